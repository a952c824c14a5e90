//! The table of facts: one line for each set of facts, then the functions with these facts.

/// The words of a line are read by `Fact::read`; the documentation of crate `clib` lists them. A function that is not
/// here is unknown.
pub(crate) const TABLE: &[(&str, &str)] = &[
    // Numbers and characters.
    ("(i)", "abs isascii toascii"),
    ("(l)", "labs llabs"),
    (
        "",
        "imaxabs atan atan2 cbrt ceil ceilf fabs fabsf floor \
         floorf fmax fmin nearbyint nearbyintf \
         rint rintf round roundf tanh trunc truncf div ldiv lldiv \
         difftime btowc wctob fabsl floorl ceill asinh \
         isatty htonl htons ntohl ntohs sleep usleep free cfree \
         iswalnum iswalpha iswcntrl iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper \
         iswxdigit towlower towupper wcwidth copysign copysignf fmaxf fminf atan2f \
         atanf tanhf sync ffs ffsl ffsll getuid geteuid getgid getegid alarm nanf nan __cxa_finalize \
         fma setbuf setvbuf setlinebuf posix_fadvise fadvise fdadvise malloc_usable_size \
         __builtin_clz __builtin_clzl __builtin_clzll __builtin_ctz __builtin_ctzl __builtin_ctzll \
         __builtin_popcount __builtin_popcountl __builtin_popcountll __builtin_parity __builtin_parityl \
         __builtin_parityll __builtin_ffs __builtin_ffsl __builtin_ffsll __builtin_clrsb \
         __builtin_clrsbl __builtin_clrsbll __builtin_bitreverse8 __builtin_bitreverse16 \
         __builtin_bitreverse32 __builtin_bitreverse64 truncl roundl rintl nearbyintl copysignl \
         fmaxl fminl __builtin_bswap16 __builtin_bswap32 __builtin_bswap64",
    ),
    // What is out of their domain or range sets `errno`.
    (
        "e",
        "acos asin cosh exp exp2 expm1 fmod fmodf hypot log log10 log10f log1p log2 logf pow powf sinh sqrt sqrtf expf sin cos tan sinf cosf tanf acosf asinf acosh atanh lround llround lrint llrint ldexp ldexpf scalbn remainder fdim sqrtl powl ldexpl scalbnl fmodl \
         exp10 exp10f exp2f expm1f log1pf log2f hypotf coshf sinhf acoshf atanhf remainderf fdimf nextafter \
         nextafterf tgamma tgammaf ilogb ilogbf logb logbf scalbln scalbnf lroundf llroundf lrintf llrintf expl logl",
    ),
    (
        "(i) k0",
        "isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper \
         isxdigit tolower toupper",
    ),
    ("varies", "getpid getppid"),
    // Text and memory.
    ("r0:t (p)", "strlen"),
    ("r0:t", "atoi atol atoll atof"),
    ("r0:t prints", "puts puts_unlocked"),
    ("r0", "mbsinit sigismember wcslen access"),
    ("r0 st e sys", "remove unlink rmdir mkdir chmod system"),
    ("r0 st e", "chdir"),
    ("r0 r1 st e sys", "rename link symlink"),
    ("r0 r1 st e", "setenv putenv unsetenv"),
    ("r0:t r1:t (pp)", "strcmp strcasecmp strspn strcspn"),
    ("r0:t r1:t rs", "strcoll"),
    ("r0:t2 r1:t2 (ppz)", "strncmp strncasecmp"),
    ("r0:2 r1:2 (ppz)", "memcmp bcmp"),
    ("r0:t out1", "fputs_unlocked fputs"),
    ("r0 r1", "wcscmp wcsncmp wmemcmp strverscmp fnmatch"),
    ("r0:t =0 (pi)", "strchr strrchr strchrnul index rindex"),
    ("r0:2 =0 (piz)", "memchr memrchr"),
    ("r0 =0", "rawmemchr __rawmemchr wcschr wcsrchr wmemchr"),
    ("r0:t r1:t =0 (pp)", "strstr strpbrk"),
    ("r0:t r1:t =0", "strcasestr"),
    ("r0 r1 =0", "memmem"),
    ("w0:s1 r1:t =0 (pp)", "strcpy"),
    ("w0:2 r1:t2 =0 (ppz)", "strncpy"),
    ("w0:s1 r1:t =0", "stpcpy __strcpy_chk __stpcpy_chk __stpcpy"),
    ("w0:2 r1:t2 =0", "stpncpy __strncpy_chk"),
    ("r0:t w0:+s1 r1:t =0 (pp)", "strcat"),
    ("r0:t w0 r1:t2 =0", "strncat __strncat_chk"),
    ("r0:t w0:+s1 r1:t =0", "__strcat_chk"),
    ("w0 r1 =0", "wcscpy wcsncpy"),
    ("w0 r1", "strlcpy strlcat strxfrm swab"),
    ("w0:2 r1:2 c01 =0 (ppz)", "memcpy memmove"),
    (
        "w0:2 r1:2 c01 =0",
        "mempcpy __mempcpy __memcpy_chk __memmove_chk __mempcpy_chk",
    ),
    ("w0 r1 c01 =0", "memccpy wmemcpy wmemmove"),
    ("w1:2 r0:2 c10", "bcopy"),
    ("w0:2 =0 (piz)", "memset"),
    ("w0:2 =0", "__memset_chk"),
    ("w0 =0", "wmemset"),
    ("w0:1 (pz)", "bzero"),
    ("w0:1", "explicit_bzero"),
    // New memory.
    (
        "w0",
        "sigemptyset sigfillset sigaddset sigdelset __builtin_setjmp setjmp _setjmp __sigsetjmp \
         sigsetjmp",
    ),
    ("=new:0 e", "malloc valloc pvalloc alloca"),
    ("=zero:0*1 e", "calloc"),
    ("=new:1 e", "aligned_alloc memalign"),
    ("r0 w0 =0 =copy:1 e", "realloc"),
    ("r0 w0 =0 =copy:1*2 e", "reallocarray"),
    ("new0 e", "posix_memalign"),
    ("r0:t =copy e", "strdup __strdup"),
    ("r0:t1 =copy e", "strndup __strndup"),
    ("r0 =copy e", "wcsdup"),
    ("r0 st w0 =0 =lib", "strtok"),
    ("r0 r1 w0 w2 s20 =0 =lib", "strtok_r __strtok_r"),
    (
        "r0 w1 s10 e",
        "strtol strtoul strtoll strtoull strtod strtof strtold strtoimax strtoumax __isoc23_strtol \
         __isoc23_strtoul __isoc23_strtoll __isoc23_strtoull __strtol_internal __strtod_internal strtoq \
         strtouq",
    ),
    // Formatted output.
    ("r0 prints", "perror psignal"),
    (
        "r*0 prints",
        "printf putchar putchar_unlocked warn warnx verror dprintf wprintf",
    ),
    ("r*1 prints", "__printf_chk"),
    ("r*0 out0", "fprintf fwprintf __fprintf_chk"),
    ("r*0 prints exit", "error error_at_line"),
    ("prints", "putwchar putwchar_unlocked"),
    ("w0 r*2", "swprintf"),
    ("w0 r2 rl3", "vswprintf"),
    ("r0 rl1 prints", "vprintf vwprintf"),
    ("r1 rl2 out0", "vfprintf vfwprintf"),
    ("r2 rl3 out0", "__vfprintf_chk"),
    ("w0 r*1", "sprintf"),
    ("w0:<1 r*2", "snprintf"),
    ("w0 r*3", "__sprintf_chk"),
    ("w0 r*4", "__snprintf_chk"),
    ("w0 r1 rl2", "vsprintf"),
    ("w0:<1 r2 rl3", "vsnprintf"),
    ("w0 r3 rl4", "__vsprintf_chk"),
    ("w0 r4 rl5", "__vsnprintf_chk"),
    ("new0 w0 r*1", "asprintf"),
    ("new0 w0 r1 rl2", "vasprintf"),
    (
        "r*0 prints noreturn",
        "err errx __assert_fail __assert __assert_perror_fail verr verrx",
    ),
    // Streams and files.
    (
        "out1",
        "fputc putc putc_unlocked fputc_unlocked putw fputwc putwc",
    ),
    ("r0 out1", "fputws"),
    ("r0:<1*2 out3 e", "fwrite fwrite_unlocked"),
    ("out0 e", "fflush fflush_unlocked"),
    ("r1:<2 prints e", "write"),
    (
        "in",
        "getchar getchar_unlocked fgetc getc getc_unlocked fgetc_unlocked ungetc fgetwc getwc feof \
         ferror feof_unlocked ferror_unlocked clearerr fileno fileno_unlocked fclose fseek fseeko ftell \
         ftello rewind fgetpos fsetpos close lseek fsync fcntl posix_fallocate dup dup2 pclose fpurge \
         __fpurge __fpending __freading __freadahead fseterr",
    ),
    ("w0:<1 in e =0", "fgets fgets_unlocked"),
    ("w0 in e =0", "gets fgetws"),
    ("w0:<1*2 in e", "fread fread_unlocked"),
    ("w1:<2 in e", "read __read_chk"),
    ("w0 w1 new0 in e", "getline getdelim __getdelim"),
    ("r0 w*1 in e", "scanf __isoc99_scanf __isoc23_scanf"),
    ("r1 w*2 in e", "fscanf __isoc99_fscanf __isoc23_fscanf"),
    ("r0 r1 w*2 e", "sscanf __isoc99_sscanf __isoc23_sscanf"),
    ("r0 r1 wl2 e", "vsscanf __isoc99_vsscanf"),
    ("r1 wl2 in e", "vfscanf __isoc99_vfscanf"),
    ("in sys", "ftruncate"),
    ("r0 r1 in e =stream sys", "fopen fopen64 popen"),
    ("r0 r1 in e =stream =2 sys", "freopen"),
    ("r1 in e =stream", "fdopen"),
    ("in e =stream", "tmpfile"),
    ("r0 w0 in e sys", "mkstemp mkostemp"),
    ("r1 r2 in e sys", "utimensat"),
    ("r1 in e sys", "futimens"),
    ("r0 r1 in e sys", "utime utimes"),
    ("st e =lib", "getpwuid"),
    ("r0 st e =lib", "getpwnam"),
    ("w0 e", "sem_init"),
    ("r0 w0 e", "sem_post sem_wait sem_trywait"),
    ("r0 r1 w0 e", "sem_timedwait"),
    ("r0 w1 e", "sem_getvalue"),
    ("r0 e", "sem_destroy"),
    ("w0 in st =0 =lib", "tmpnam tmpnam_r"),
    ("r0 in e sys", "open open64 creat"),
    ("w1 in e", "fstat fstat64"),
    ("r0 w1 in e", "stat lstat stat64 lstat64"),
    // What the library keeps.
    ("st varies", "rand random drand48 lrand48 mrand48 clock"),
    ("st", "srand srandom srand48 tzset raise"),
    ("rs", "fegetround fetestexcept"),
    ("st", "feclearexcept feraiseexcept"),
    ("w0 rs", "fegetenv fegetexceptflag"),
    (
        "st env",
        "fesetround fesetenv feupdateenv feenableexcept fedisableexcept uselocale",
    ),
    ("w0 st env", "feholdexcept"),
    ("r0 w0 st varies", "erand48 nrand48 jrand48"),
    ("w0 st varies", "time gettimeofday times"),
    ("st w0 varies", "rand_r"),
    ("w1 st e varies", "clock_gettime getrusage"),
    (
        "r0 st =lib",
        "getenv secure_getenv gmtime localtime ctime asctime gettext",
    ),
    ("r0 st w1 =1", "gmtime_r localtime_r ctime_r asctime_r"),
    ("r0 w0 st", "mktime timegm timelocal"),
    ("w0:<1 r2:t r3 st", "strftime strftime_l"),
    ("r1 st env =lib", "setlocale"),
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
    // What calls back.
    ("r1 w2 st", "sigaction sigprocmask pthread_sigmask"),
    ("r0 w0 call3:00", "qsort"),
    ("r0 r1 call4:01 =1", "bsearch"),
    // The end.
    (
        "noreturn",
        "exit abort longjmp siglongjmp _longjmp __longjmp_chk __builtin_longjmp __builtin_unreachable \
         __builtin_trap",
    ),
    ("noreturn raw", "_exit _Exit quick_exit"),
    ("w1", "frexpl modfl frexp modf frexpf modff"),
    ("w2", "remquo remquof remquol"),
    ("w1 w2", "sincos sincosf sincosl"),
    ("w1 st e", "lgamma_r lgammaf_r"),
    ("st e", "lgamma lgammaf gamma"),
    ("st sys", "kill"),
    ("r0:t1 (pz)", "strnlen"),
    // What changes more than the program, and is not known otherwise.
    (
        "? r*0 raw sys",
        "execl execle execlp execv execve execvp execvpe fexecve",
    ),
    (
        "? sys",
        "fork vfork chown lchown fchown fchmod fchmodat fchownat linkat mkdirat mknod mount openat \
         reboot renameat symlinkat truncate umount unlinkat killpg chroot",
    ),
];
