//===- ReservedNames.cpp - names that a file which includes Kokkos has already ------------------------------------===//

#include "translator/ir/ReservedNames.h"

#include "translator/ir/Macros.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace ml2k {

bool isCppWord(StringRef name) {
  static StringSet<> const words = {
      "alignas",     "alignof",  "and",       "and_eq",    "asm",          "auto",         "bitand",
      "bitor",       "bool",     "break",     "case",      "catch",        "char",         "char16_t",
      "char32_t",    "char8_t",  "class",     "co_await",  "co_return",    "co_yield",     "compl",
      "concept",     "const",    "consteval", "constexpr", "constinit",    "const_cast",   "continue",
      "decltype",    "default",  "delete",    "do",        "double",       "dynamic_cast", "else",
      "enum",        "explicit", "export",    "extern",    "false",        "float",        "for",
      "friend",      "goto",     "if",        "inline",    "int",          "long",         "mutable",
      "namespace",   "new",      "noexcept",  "not",       "not_eq",       "nullptr",      "operator",
      "or",          "or_eq",    "private",   "protected", "public",       "register",     "reinterpret_cast",
      "requires",    "return",   "short",     "signed",    "sizeof",       "static",       "static_assert",
      "struct",      "switch",   "template",  "this",      "thread_local", "throw",        "true",
      "static_cast", "try",      "typedef",   "typeid",    "typename",     "union",        "unsigned",
      "using",       "virtual",  "void",      "volatile",  "wchar_t",      "while",        "xor",
      "xor_eq",      "assert",   "errno",     "linux",     "unix",         "std",          "Kokkos",
      "main",        "NULL",     "stdin",     "stdout",    "stderr",       "major",        "minor",
      "NAN",         "INFINITY", "EOF",       "HUGE_VAL",  "BUFSIZ",       "RAND_MAX",     "DOMAIN",
      "OVERFLOW",    "UNDERFLOW"};
  return words.contains(name) || isMacro(name);
}

static StringSet<> namesIn(ArrayRef<StringRef> lists) {
  StringSet<> all;
  for (StringRef const list : lists) {
    SmallVector<StringRef> words;
    list.split(words, ' ');
    for (StringRef const word : words)
      all.insert(word);
  }
  return all;
}

bool isLibraryName(StringRef name) {
  static char const *const mathematics =
      "abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2 expm1 fabs "
      "fdim finite floor fma fmax fmin fmod frexp gamma hypot ilogb isinf isnan j0 j1 jn labs ldexp lgamma llabs "
      "llrint "
      "llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo "
      "rint "
      "round roundeven scalb scalbln scalbn signgam significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn";
  static char const *const library =
      "abort access alarm alloca asctime atexit atof atoi atol atoll basename bcmp bcopy bsearch btowc bzero calloc "
      "chdir chmod chown clearenv clock clone close confstr creat crypt ctermid ctime daemon difftime div dup dup2 "
      "dysize ecvt encrypt endpwent environ erand48 execl execle execlp execv execve execvp exit explicit_bzero fchown "
      "fclose fcntl fcvt fdopen feof ferror fflush ffs fgetc fgets fileno flock fopen fork fpathconf fprintf fputc "
      "fputs "
      "fread free freopen fscanf fseek fsync ftell ftruncate fwrite gcvt getc getchar getcwd getdate getegid getenv "
      "getline getopt getpid getppid getuid getw gmtime index initstate isalnum isalpha isatty isblank iscntrl isdigit "
      "isgraph islower isprint ispunct isspace isupper isxdigit jrand48 kill ldiv link lldiv localtime lockf lrand48 "
      "lseek malloc mblen memccpy memchr memcmp memcpy memmem memmove mempcpy memset mkdir mkdtemp mkstemp mktemp "
      "mktime mrand48 nanosleep nice nrand48 on_exit open optarg opterr optind optopt pathconf pause pclose perror "
      "pipe "
      "popen pread printf profil psignal putc putchar putenv puts putw pwrite qsort raise rand random read readlink "
      "realloc realpath reboot remove rename renameat revoke rewind rindex rmdir rpmatch sbrk scanf seed48 select "
      "setbuf setenv setgid sethostname setpgid setsid setstate setuid setvbuf sigaction signal sleep snprintf sprintf "
      "srand srandom sscanf stat stpcpy strcasecmp strcat strchr strcmp strcoll strcpy strcspn strdup strerror "
      "strftime "
      "strlen strncat strncmp strncpy strpbrk strrchr strsep strspn strstr strtod strtok strtol strtoul strxfrm swab "
      "symlink sync syscall sysconf system tempnam time timegm timer_t times timezone tmpfile tmpnam toascii tolower "
      "toupper truncate ttyname tzname tzset umask ungetc unlink unsetenv usleep utime vfork vprintf wait wcslen "
      "wctomb "
      "write double_t float_t div_t size_t ssize_t time_t tm off_t pid_t timeval timespec";
  static StringSet<> const names = namesIn({mathematics, library});
  if (names.contains(name))
    return true;
  // float and long double variants: sinf, sinl
  StringRef const stem = name.drop_back(name.empty() ? 0 : 1);
  return (name.ends_with("f") || name.ends_with("l")) && names.contains(stem);
}

bool isDeviceName(StringRef name) {
  static char const *const functions = "all any ballot clock64 cospi cyl_bessel_i0 cyl_bessel_i1 dadd dmul dsub "
                                       "erfcinv erfcx erfinv fdivide half half2 isfinite llmax "
                                       "llmin max min norm norm3d norm4d normcdf normcdfinv nv_bfloat16 nv_bfloat162 "
                                       "nv_half nv_half2 rcbrt rhypot rnorm rnorm3d rnorm4d "
                                       "rsqrt signbit sincospi sinpi ull2double ullmax ullmin umax umin dim3";
  static StringSet<> const names = namesIn({functions});
  // float variants; vectors: float4; what is done to halves: hexp, h2exp
  StringRef const number = name.rtrim("1234");
  bool const isVector =
      name.size() == number.size() + 1 && llvm::is_contained({"char", "uchar", "short", "ushort", "int", "uint", "long",
                                                              "ulong", "longlong", "ulonglong", "float", "double"},
                                                             number);
  StringRef half = name;
  bool const isOfHalves = (half.consume_front("h2") || half.consume_front("h")) &&
                          llvm::is_contained({"ceil", "cos", "exp", "exp10", "exp2", "floor", "log", "log10", "log2",
                                              "rcp", "rint", "rsqrt", "sin", "sqrt", "tanh", "tanh_approx", "trunc"},
                                             half);
  return names.contains(name) || (name.ends_with("f") && names.contains(name.drop_back())) || isVector || isOfHalves;
}

} // namespace ml2k
