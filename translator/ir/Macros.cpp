//===- Macros.cpp - macros that a file which includes Kokkos has to live with -------------------------------------===//
//
// Those without an underscore in capitals: no name of ours has the form of the others.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/ir/Macros.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace ml2k {

bool isMacro(StringRef name) {
  static char const *const list =
      "BUFSIZ CSIGNAL E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EADV EAFNOSUPPORT EAGAIN EALREADY EBADE EBADF "
      "EBADFD EBADMSG EBADR EBADRQC EBADSLT EBFONT EBUSY ECANCELED ECHILD ECHRNG ECOMM ECONNABORTED "
      "ECONNREFUSED ECONNRESET EDEADLK EDEADLOCK EDESTADDRREQ EDOM EDOTDOT EDQUOT EEXIST EFAULT EFBIG EHOSTDOWN "
      "EHOSTUNREACH EHWPOISON EIDRM EILSEQ EINPROGRESS EINTR EINVAL EIO EISCONN EISDIR EISNAM EKEYEXPIRED "
      "EKEYREJECTED EKEYREVOKED EL2HLT EL2NSYNC EL3HLT EL3RST ELIBACC ELIBBAD ELIBEXEC ELIBMAX ELIBSCN ELNRNG "
      "ELOOP EMEDIUMTYPE EMFILE EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG ENAVAIL ENETDOWN ENETRESET ENETUNREACH "
      "ENFILE ENOANO ENOBUFS ENOCSI ENODATA ENODEV ENOENT ENOEXEC ENOKEY ENOLCK ENOLINK ENOMEDIUM ENOMEM ENOMSG "
      "ENONET ENOPKG ENOPROTOOPT ENOSPC ENOSR ENOSTR ENOSYS ENOTBLK ENOTCONN ENOTDIR ENOTEMPTY ENOTNAM "
      "ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY ENOTUNIQ ENXIO EOF EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM "
      "EPFNOSUPPORT EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE ERANGE EREMCHG EREMOTE EREMOTEIO ERESTART ERFKILL "
      "EROFS ESHUTDOWN ESOCKTNOSUPPORT ESPIPE ESRCH ESRMNT ESTALE ESTRPIPE ETIME ETIMEDOUT ETOOMANYREFS ETXTBSY "
      "EUCLEAN EUNATCH EUSERS EWOULDBLOCK EXDEV EXFULL INFINITY MAXFLOAT NAN NFDBITS NULL NZERO SNAN SNANF "
      "SNANF128 SNANF32 SNANF32X SNANF64 SNANF64X SNANL WCONTINUED WEOF WEXITED WEXITSTATUS WIFCONTINUED "
      "WIFEXITED WIFSIGNALED WIFSTOPPED WNOHANG WNOWAIT WSTOPPED WSTOPSIG WTERMSIG WUNTRACED alloca assert "
      "assert_perror be16toh be32toh be64toh errno htobe16 htobe32 htobe64 htole16 htole32 htole64 issubnormal "
      "le16toh le32toh le64toh linux math_errhandling offsetof pthread_cleanup_pop "
      "pthread_cleanup_pop_restore_np pthread_cleanup_push pthread_cleanup_push_defer_np sched_priority stderr "
      "stdin stdout strdupa strndupa unix";
  static StringSet<> const macros = [] {
    StringSet<> all;
    SmallVector<StringRef> words;
    StringRef(list).split(words, ' ');
    for (StringRef const word : words)
      all.insert(word);
    return all;
  }();
  // PRId64, SCNxMAX
  bool const isFormat =
      (name.starts_with("PRI") || name.starts_with("SCN")) && name.size() > 3 && StringRef("Xdioux").contains(name[3]);
  return isFormat || macros.contains(name);
}

} // namespace ml2k
