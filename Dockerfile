# An image with Patchwright and the compilers that it needs:
#
#     docker build -t patchwright . && docker run --rm --privileged -v "$PWD:/work" patchwright repair .
#
# Without --privileged a container has no namespaces: say --unprotected then, in a container that is thrown away.
FROM debian:12 AS build
COPY . /source
WORKDIR /source
RUN apt-get update && scripts/setup && scripts/release /tmp/release

FROM debian:12
RUN apt-get update \
 && apt-get install -y --no-install-recommends clang-19 cmake diffutils gcc git libc6-dev make ninja-build patch \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /tmp/release/patchwright/ /usr/local/
WORKDIR /work
ENTRYPOINT ["patchwright"]
