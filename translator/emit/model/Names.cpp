//===- Names.cpp - the model's names as C++ identifiers -----------------------------------------------------------===//

#include "translator/emit/model/Names.h"
#include "translator/emit/model/Macros.h"
#include "translator/ir/UniqueNames.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ml2k {

bool isReservedWord(StringRef name) {
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

/// Names that are equal so far get hashes of their full texts.
static constexpr size_t longestIdentifier = 160;

std::string snakeCase(StringRef full, StringRef prefix) {
  std::string out;
  for (size_t i = 0; i < full.size(); ++i) {
    char const c = full[i];
    if (!isAlnum(c)) {
      if (!out.empty() && out.back() != '_')
        out += '_';
      continue;
    }
    bool const afterSmall = i > 0 && (isLower(full[i - 1]) || isDigit(full[i - 1]));
    bool const startsWord = i > 0 && i + 1 < full.size() && isUpper(full[i - 1]) && isLower(full[i + 1]);
    if (isUpper(c) && (afterSmall || startsWord) && !out.empty() && out.back() != '_')
      out += '_';
    out += toLower(c);
  }
  out.resize(std::min(out.size(), longestIdentifier));
  while (!out.empty() && out.back() == '_')
    out.pop_back();
  if (out.empty() || isDigit(out.front()))
    out = out.empty() ? prefix.str() : (prefix + "_" + out).str();
  return isReservedWord(out) ? out + "_" : out;
}

std::string camelCase(StringRef full, StringRef prefix) {
  std::string out;
  for (StringRef rest = full; !rest.empty();) {
    rest = rest.drop_until([](char c) { return isAlnum(c); });
    StringRef const word = rest.take_while([](char c) { return isAlnum(c); });
    rest = rest.drop_front(word.size());
    if (!word.empty())
      out += toUpper(word.front()) + word.drop_front().str();
  }
  out.resize(std::min(out.size(), longestIdentifier));
  if (out.empty() || isDigit(out.front()))
    out = prefix.str() + out;
  return isReservedWord(out) ? out + "_" : out;
}

/// Global names of the C library's and of POSIX' headers that Kokkos or a standard header may bring.
static bool isGlobalName(StringRef name) {
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
  static StringSet<> const names = [] {
    StringSet<> all;
    for (StringRef const list : {StringRef(mathematics), StringRef(library)}) {
      SmallVector<StringRef> words;
      list.split(words, ' ');
      for (StringRef const word : words)
        all.insert(word);
    }
    return all;
  }();
  if (names.contains(name))
    return true;
  // float and long double variants: sinf, sinl
  StringRef const stem = name.drop_back(name.empty() ? 0 : 1);
  return (name.ends_with("f") || name.ends_with("l")) && names.contains(stem);
}

std::string namespaceName(StringRef model) {
  std::string const name = snakeCase(model, "model");
  return isGlobalName(name) ? name + "_model" : name;
}

/// `name` with four characters of a hash of `full`, more where these are taken.
static std::string withHash(std::string const &name, StringRef full, function_ref<bool(StringRef)> isTaken) {
  if (std::string four = (name.back() == '_' ? name : name + "_") + nameHash(full); !isTaken(four))
    return four;
  unsigned equal = 0;
  return hashedName(name, full, equal, isTaken);
}

StringMap<std::string> nameTable(std::vector<std::string> const &names, StringRef prefix, StringSet<> const &taken) {
  StringMap<unsigned> uses;
  StringSet<> seen;
  for (std::string const &full : names)
    if (seen.insert(full).second)
      ++uses[snakeCase(full, prefix)];
  auto const isPlain = [&](StringRef name) { return uses.lookup(name) == 1 && !taken.contains(name); };
  StringSet<> hashed;
  auto const isTaken = [&](StringRef name) { return taken.contains(name) || hashed.contains(name) || isPlain(name); };
  StringMap<std::string> table;
  for (std::string const &full : names) {
    std::string const name = snakeCase(full, prefix);
    if (table.contains(full))
      continue;
    table[full] = isPlain(name) ? name : withHash(name, full, isTaken);
    if (!isPlain(name))
      hashed.insert(table[full]);
  }
  return table;
}

bool Scope::isTaken(StringRef name) const {
  return names.contains(name) || isReservedWord(name) || (outer && outer->isTaken(name));
}

void Scope::take(StringRef name) {
  if (names.insert(name).second)
    order.push_back(name.str());
  for (Scope *around = outer; around; around = around->outer)
    around->inside.insert(name);
}

void Scope::release(size_t count) {
  for (; order.size() > count; order.pop_back())
    names.erase(order.back());
}

std::string Scope::firstFree(std::vector<std::string> const &wanted, StringRef identity) {
  for (std::string const &candidate : wanted)
    if (isFree(candidate))
      return candidate;
  std::string const &stem = wanted.back();
  for (char letter = 'b'; letter <= 'z'; ++letter) // a second `scaled` is `scaled_b`
    if (std::string name = stem + "_" + letter; isFree(name))
      return name;
  unsigned &equal = equals[(stem + "|" + identity).str()];
  return hashedName(stem, identity, equal, [&](StringRef name) { return !isFree(name); });
}

cpp::Identifier Scope::fresh(std::vector<std::string> const &wanted, StringRef identity) {
  std::string name = firstFree(wanted, identity);
  take(name);
  return cpp::Identifier(name);
}

} // namespace ml2k
