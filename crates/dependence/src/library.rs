//! What the functions of the C library do to memory, for the analyses; what they compute is in
//! crate `interpret`.

/// What an effect is about: an argument, counted from 0.
pub(crate) type Argument = usize;

/// An effect of a library function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Reads the objects that an argument points to.
    Read(Argument),
    /// Writes objects that an argument points to; they may keep what they hold.
    Write(Argument),
    /// Reads the objects that this argument and all further ones point to.
    ReadFrom(Argument),
    /// Writes the objects that this argument and all further ones point to.
    WriteFrom(Argument),
    /// Copies pointers from the objects of the second argument to those of the first.
    CopyPointers(Argument, Argument),
    /// The value may be the argument.
    Gives(Argument),
    /// The value is the address of a new object.
    GivesNew,
    /// The value may be an address of memory of the library.
    GivesLibrary,
    /// The value may be a stream that is no standard one.
    GivesStream,
    /// Stores the address of a new object where the argument points to.
    StoresNew(Argument),
    /// Stores the second argument where the first points to.
    Stores(Argument, Argument),
    /// Stores addresses of memory of the library where the argument points to.
    StoresLibrary(Argument),
    /// Takes something from the input streams: what comes next depends on it.
    Input,
    /// Writes to the stream in an argument; to a standard one is no effect that later ones see.
    Output(Argument),
    /// Reads and changes what the library keeps between calls.
    State,
    /// Reads what the library keeps between calls.
    ReadsState,
    /// May set `errno`.
    Errno,
    /// The value is the address of `errno`.
    GivesErrno,
    /// Calls the function in an argument, with the addresses that these arguments hold.
    Calls(Argument, [Argument; 2]),
    /// Does not return, or not always.
    Exits,
    /// Reads what the `va_list` in an argument leads to.
    ReadsList(Argument),
    /// Writes what the `va_list` in an argument leads to.
    WritesList(Argument),
}

/// The effects of functions: one line for each set of effects, then the functions that have it.
///
/// `rN` read, `wN` write, `r*N`/`w*N` from N on, `cNM` copy pointers, `=N` gives, `=new`, `=lib`,
/// `=stream`, `=errno`, `newN` stores new, `sNM` stores, `libN` stores library, `in`, `outN`, `st`
/// state, `rs` reads state, `e` errno, `callN:AB`, `exit`, `rlN`/`wlN` lists. What is not there is
/// unknown.
const TABLE: &[(&str, &str)] = &[
    (
        "",
        "abs labs llabs imaxabs isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint ispunct \
         isspace isupper isxdigit toascii tolower toupper acos asin atan atan2 cbrt ceil ceilf cos cosf cosh exp exp2 \
         expf expm1 fabs fabsf floor floorf fmax fmin fmod fmodf hypot log log10 log10f log1p log2 logf nearbyint \
         nearbyintf pow powf rint rintf round roundf sin sinf sinh sqrt sqrtf tan tanf tanh trunc truncf div ldiv lldiv \
         difftime btowc wctob fabsl floorl ceill sqrtl powl asinh acosh atanh lround llround lrint llrint ldexp \
         ldexpf ldexpl scalbn isatty htonl htons ntohl ntohs sleep usleep free cfree iswalnum \
         iswalpha iswcntrl iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper iswxdigit towlower towupper \
         wcwidth copysign copysignf remainder fmaxf fminf atan2f acosf asinf atanf tanhf sync ffs ffsl ffsll \
         getpid getuid geteuid getgid getegid getppid alarm nanf nan __cxa_finalize fdim fma setbuf setvbuf \
         setlinebuf posix_fadvise fadvise fdadvise malloc_usable_size __builtin_clz __builtin_clzl __builtin_clzll \
         __builtin_ctz __builtin_ctzl __builtin_ctzll __builtin_popcount __builtin_popcountl __builtin_popcountll \
         __builtin_parity __builtin_parityl __builtin_parityll __builtin_ffs __builtin_ffsl __builtin_ffsll \
         __builtin_clrsb __builtin_clrsbl __builtin_clrsbll __builtin_bitreverse8 __builtin_bitreverse16 \
         __builtin_bitreverse32 __builtin_bitreverse64 truncl roundl rintl nearbyintl fmodl copysignl fmaxl fminl \
         scalbnl feclearexcept \
         __builtin_bswap16 __builtin_bswap32 __builtin_bswap64",
    ),
    (
        "r0",
        "strlen atoi atol atoll atof puts perror mbsinit sigismember wcslen access puts_unlocked",
    ),
    ("r0 st e", "remove unlink rmdir chdir mkdir chmod"),
    ("r0 r1 st e", "rename setenv putenv unsetenv link symlink"),
    (
        "r0 r1",
        "strcmp strcasecmp strcoll strncmp strncasecmp memcmp bcmp strspn strcspn fputs_unlocked wcscmp wcsncmp \
         wmemcmp strverscmp fnmatch",
    ),
    (
        "r0 =0",
        "strchr strrchr strchrnul memchr memrchr rawmemchr __rawmemchr index rindex wcschr wcsrchr wmemchr",
    ),
    ("r0 r1 =0", "strstr strcasestr strpbrk memmem"),
    (
        "w0 r1 =0",
        "strcpy strncpy stpcpy stpncpy strcat strncat __strcpy_chk __strncpy_chk __stpcpy_chk __strcat_chk \
         __strncat_chk __stpcpy wcscpy wcsncpy",
    ),
    ("w0 r1", "strlcpy strlcat strxfrm swab"),
    (
        "w0 r1 c01 =0",
        "memcpy memmove mempcpy __mempcpy __memcpy_chk __memmove_chk __mempcpy_chk memccpy wmemcpy wmemmove",
    ),
    ("w1 r0 c10", "bcopy"),
    ("w0 =0", "memset __memset_chk wmemset"),
    (
        "w0",
        "bzero explicit_bzero sigemptyset sigfillset sigaddset sigdelset",
    ),
    (
        "=new e",
        "malloc calloc aligned_alloc memalign valloc pvalloc alloca",
    ),
    ("r0 w0 =0 =new e", "realloc reallocarray"),
    ("new0 e", "posix_memalign"),
    ("r0 =new e", "strdup strndup __strdup __strndup wcsdup"),
    ("r0 st w0 =0 =lib", "strtok"),
    ("r0 r1 w0 w2 s20 =0 =lib", "strtok_r __strtok_r"),
    (
        "r0 w1 s10 e",
        "strtol strtoul strtoll strtoull strtod strtof strtold strtoimax strtoumax __isoc23_strtol \
      __isoc23_strtoul __isoc23_strtoll __isoc23_strtoull __strtol_internal __strtod_internal strtoq strtouq",
    ),
    // Formatted output.
    ("r*0", "printf putchar putchar_unlocked warn warnx verror"),
    ("r*1", "__printf_chk"),
    ("r*0 out0", "fprintf fwprintf"),
    ("r*0", "dprintf"),
    ("r*0 exit", "error error_at_line"),
    ("r*0 out0", "__fprintf_chk"),
    ("r*0", "wprintf"),
    ("out0", "putwchar putwchar_unlocked"),
    ("w0 r*2", "swprintf"),
    ("w0 r2 rl3", "vswprintf"),
    ("r0 rl1", "vprintf vwprintf"),
    ("r1 rl2 out0", "vfprintf vfwprintf"),
    ("r2 rl3 out0", "__vfprintf_chk"),
    ("w0 r*1", "sprintf"),
    ("w0 r*2", "snprintf"),
    ("w0 r*3", "__sprintf_chk"),
    ("w0 r*4", "__snprintf_chk"),
    ("w0 r1 rl2", "vsprintf"),
    ("w0 r2 rl3", "vsnprintf"),
    ("w0 r3 rl4", "__vsprintf_chk"),
    ("w0 r4 rl5", "__vsnprintf_chk"),
    ("new0 w0 r*1", "asprintf"),
    ("new0 w0 r1 rl2", "vasprintf"),
    ("r*0 exit", "err errx"),
    // Streams.
    (
        "out1",
        "fputc putc putc_unlocked fputc_unlocked putw fputwc putwc",
    ),
    ("r0 out1", "fputs fputws"),
    ("r0 out3 e", "fwrite fwrite_unlocked"),
    ("out0 e", "fflush fflush_unlocked"),
    ("r1 e", "write"),
    (
        "in",
        "getchar getchar_unlocked fgetc getc getc_unlocked fgetc_unlocked ungetc fgetwc getwc",
    ),
    ("w0 in e =0", "fgets fgets_unlocked gets fgetws"),
    ("w0 in e", "fread fread_unlocked"),
    ("w1 in e", "read __read_chk"),
    ("w0 w1 new0 in e", "getline"),
    ("w0 w1 new0 in e", "getdelim __getdelim"),
    ("r0 w*1 in e", "scanf __isoc99_scanf __isoc23_scanf"),
    ("r1 w*2 in e", "fscanf __isoc99_fscanf __isoc23_fscanf"),
    ("r0 r1 w*2 e", "sscanf __isoc99_sscanf __isoc23_sscanf"),
    ("r0 r1 wl2 e", "vsscanf __isoc99_vsscanf"),
    ("r1 wl2 in e", "vfscanf __isoc99_vfscanf"),
    (
        "in",
        "feof ferror feof_unlocked ferror_unlocked clearerr fileno fileno_unlocked fclose fseek fseeko ftell \
      ftello rewind fgetpos fsetpos close lseek fsync ftruncate fcntl posix_fallocate dup dup2 pclose fpurge __fpurge \
      __fpending __freading __freadahead fseterr",
    ),
    ("r0 r1 in e =stream", "fopen fopen64 popen"),
    ("r0 r1 in e =stream =2", "freopen"),
    ("r1 in e =stream", "fdopen"),
    ("in e =stream", "tmpfile"),
    ("w0 in st =0 =lib", "tmpnam tmpnam_r"),
    ("r0 in e", "open open64 creat"),
    ("w1 in e", "fstat fstat64"),
    ("r0 w1 in e", "stat lstat stat64 lstat64"),
    // What the library keeps.
    (
        "st",
        "rand random drand48 lrand48 mrand48 srand srandom srand48 clock tzset",
    ),
    ("w0 st", "time gettimeofday rand_r times "),
    ("w1 st e", "clock_gettime getrusage"),
    (
        "r0 st =lib",
        "getenv secure_getenv gmtime localtime ctime asctime gettext ",
    ),
    ("r0 st w1 =1", "gmtime_r localtime_r ctime_r asctime_r"),
    ("r0 w0 st", "mktime timegm timelocal"),
    ("w0 r2 r3 st", "strftime strftime_l"),
    ("r1 st =lib", "setlocale "),
    ("r0 =0 st =lib", "textdomain"),
    (
        "r0 r1 st =lib =1",
        "bindtextdomain bind_textdomain_codeset dgettext",
    ),
    ("r1 r2 st =1 =2", "dcgettext"),
    ("r0 r1 r2 =0 =1 =2 st", "ngettext dngettext dcngettext"),
    (
        "rs =lib",
        "nl_langinfo localeconv strerror strsignal strerror_l __ctype_b_loc __ctype_tolower_loc \
      __ctype_toupper_loc __ctype_get_mb_cur_max",
    ),
    ("w1 =1 =lib", "strerror_r __xpg_strerror_r"),
    ("=errno", "__errno_location"),
    ("r1 r2 rs st =lib lib1", "getopt __posix_getopt"),
    ("r1 w1 r2 r3 w4 st", "getopt_long getopt_long_only"),
    ("r1 w0 st", "mbtowc mbrtowc mbrtoc32"),
    ("r0 st", "mblen mbrlen"),
    ("w0 st", "wctomb wcrtomb"),
    ("r0 w1 st", "nanosleep"),
    ("call0:", "atexit"),
    ("call1: st", "signal sysv_signal __sysv_signal"),
    ("r1 w2 st", "sigaction sigprocmask pthread_sigmask"),
    // Functions that call back.
    ("r0 w0 call3:00", "qsort"),
    ("r0 r1 call4:01 =1", "bsearch"),
    // The end.
    (
        "exit",
        "exit _exit _Exit abort quick_exit longjmp siglongjmp _longjmp __longjmp_chk __builtin_longjmp",
    ),
    ("r*0 exit", "__assert_fail __assert"),
    ("w1", "frexpl modfl frexp modf"),
    ("st", "fesetround fegetround"),
    (
        "w0",
        "__builtin_setjmp setjmp _setjmp __sigsetjmp sigsetjmp",
    ),
    ("st", "raise kill "),
    ("r0 st e", "system"),
];

/// The names that the table knows, each with its effects as text.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE
        .iter()
        .flat_map(|(effects, names)| names.split_whitespace().map(move |name| (name, *effects)))
}

/// The names of the functions whose effects are known, in no order.
pub fn names() -> impl Iterator<Item = &'static str> {
    rows().map(|(name, _)| name)
}

/// The effects of a function of the C library on memory are known.
pub fn is_known(name: &str) -> bool {
    rows().any(|(known, _)| known == name)
}

/// The effects of a function of the C library; `None` for a name that is not known.
pub(crate) fn effects_of(name: &str) -> Option<Vec<Effect>> {
    let (_, text) = rows().find(|(known, _)| *known == name)?;
    Some(text.split_whitespace().filter_map(effect).collect())
}

fn effect(word: &str) -> Option<Effect> {
    let digit = |position: usize| -> Option<usize> {
        word.chars().nth(position)?.to_digit(10).map(|d| d as usize)
    };
    Some(match word {
        "in" => Effect::Input,
        "st" => Effect::State,
        "rs" => Effect::ReadsState,
        "e" => Effect::Errno,
        "exit" => Effect::Exits,
        "=new" => Effect::GivesNew,
        "=lib" => Effect::GivesLibrary,
        "=stream" => Effect::GivesStream,
        "=errno" => Effect::GivesErrno,
        _ if word.starts_with("r*") => Effect::ReadFrom(digit(2)?),
        _ if word.starts_with("w*") => Effect::WriteFrom(digit(2)?),
        _ if word.starts_with("rl") => Effect::ReadsList(digit(2)?),
        _ if word.starts_with("wl") => Effect::WritesList(digit(2)?),
        _ if word.starts_with("new") => Effect::StoresNew(digit(3)?),
        _ if word.starts_with("out") => Effect::Output(digit(3)?),
        _ if word.starts_with("lib") => Effect::StoresLibrary(digit(3)?),
        _ if word.starts_with("call") => {
            let first = digit(6);
            let second = digit(7).or(first);
            Effect::Calls(
                digit(4)?,
                [first.unwrap_or(usize::MAX), second.unwrap_or(usize::MAX)],
            )
        }
        _ => match word.as_bytes()[0] {
            b'r' => Effect::Read(digit(1)?),
            b'w' => Effect::Write(digit(1)?),
            b'=' => Effect::Gives(digit(1)?),
            b'c' => Effect::CopyPointers(digit(1)?, digit(2)?),
            b's' => Effect::Stores(digit(1)?, digit(2)?),
            _ => return None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_effect_of_the_table_is_understood() {
        for (name, text) in rows() {
            let words = text.split_whitespace().count();
            assert_eq!(
                effects_of(name).expect("it is known").len(),
                words,
                "{name}: {text}"
            );
        }
    }

    #[test]
    fn a_call_back_is_given_the_addresses_that_the_function_was_given() {
        let effects = effects_of("bsearch").expect("it is known");
        assert!(effects.contains(&Effect::Calls(4, [0, 1])));
        assert!(
            effects_of("atexit")
                .expect("it is known")
                .contains(&Effect::Calls(0, [usize::MAX; 2]))
        );
    }
}
