import { CsException, exceptionBase, exceptionNames } from "../errors.ts"
import { declareType } from "../table.ts"

/** Exceptions: constructors, types for `catch`, and messages. */
export function declareExceptions(): void {
  for (const name of exceptionNames) {
    const base = exceptionBase(name)
    const declaration = {
      ...(base === undefined ? {} : { bases: [base] }),
      holds: (value: unknown) => value instanceof CsException && value.isA(name),
    }
    declareType(name, declaration, {
      [`new(): ${name}`]: () => new CsException(name, `Exception of type 'System.${name}' was thrown.`),
      [`new(string message): ${name}`]: (message: string | null) => new CsException(name, message ?? ""),
      [`new(string message, Exception inner): ${name}`]: (
        message: string | null,
        inner: CsException | null,
      ) => new CsException(name, message ?? "", inner),
      ...(base === undefined ? reading : {}),
    })
  }
}

/** Members of every exception. The stack is empty: frames of closures say nothing about the document. */
const reading = {
  "Message: string": (self: CsException) => self.message,
  "InnerException: Exception": (self: CsException) => self.inner,
  "StackTrace: string": () => "",
  "Source: string": () => "",
  "HResult: int": () => -2146233088,
  "GetBaseException(): Exception": (self: CsException) => {
    let at = self
    while (at.inner !== null) at = at.inner
    return at
  },
}
