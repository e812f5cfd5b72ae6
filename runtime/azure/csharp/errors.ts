/** The C# exceptions that the library or a program can throw, each with its base. */
const bases = new Map<string, string>([
  ["SystemException", "Exception"],
  ["ArgumentException", "SystemException"],
  ["ArgumentNullException", "ArgumentException"],
  ["ArgumentOutOfRangeException", "ArgumentException"],
  ["ArithmeticException", "SystemException"],
  ["DivideByZeroException", "ArithmeticException"],
  ["OverflowException", "ArithmeticException"],
  ["FormatException", "SystemException"],
  ["UriFormatException", "FormatException"],
  ["IndexOutOfRangeException", "SystemException"],
  ["InvalidCastException", "SystemException"],
  ["InvalidOperationException", "SystemException"],
  ["NotSupportedException", "SystemException"],
  ["NotImplementedException", "SystemException"],
  ["NullReferenceException", "SystemException"],
  ["KeyNotFoundException", "SystemException"],
  ["TimeoutException", "SystemException"],
  ["UnauthorizedAccessException", "SystemException"],
  ["CryptographicException", "SystemException"],
  ["XmlException", "SystemException"],
  ["ApplicationException", "Exception"],
  ["JsonException", "Exception"],
  ["JsonReaderException", "JsonException"],
  ["JsonSerializationException", "JsonException"],
  ["RuntimeBinderException", "Exception"],
])

export const exceptionNames: readonly string[] = ["Exception", ...bases.keys()]

export function exceptionBase(name: string): string | undefined {
  return bases.get(name)
}

/**
 * A C# exception: thrown by the library and by `throw`, caught by `catch`. An uncaught one is the result of the expression. `message` is .NET's text if
 * that is documented; it can contain request data.
 */
export class CsException extends Error {
  override readonly name = "CsException"
  readonly type: string
  readonly inner: CsException | null
  /** Source offset in the expression, in UTF-16 units; set by the innermost call that has one. */
  at: number | undefined

  /** `type` is the name in .NET without its namespace; `catch` clauses compare it. */
  constructor(type: string, message: string, inner: CsException | null = null) {
    // Without a stack: the frames would be meaningless closures, and collecting them takes longer than most expressions.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.type = type
    this.inner = inner
  }

  isA(type: string): boolean {
    for (let at: string | undefined = this.type; at !== undefined; at = bases.get(at))
      if (at === type) return true
    return false
  }
}

/** The program exceeded the limits of an evaluation. No `catch` of the program handles it. */
export class CsLimitError extends Error {
  override readonly name = "CsLimitError"
}

/** Exceptions that several members throw, with the messages of .NET: documents log and compare them. */
export const nullReference = (): CsException =>
  new CsException("NullReferenceException", "Object reference not set to an instance of an object.")
export const outOfRange = (parameter: string): CsException =>
  new CsException(
    "ArgumentOutOfRangeException",
    `Specified argument was out of the range of valid values. (Parameter '${parameter}')`,
  )
export const argumentNull = (parameter: string): CsException =>
  new CsException("ArgumentNullException", `Value cannot be null. (Parameter '${parameter}')`)
export const argument = (message: string): CsException => new CsException("ArgumentException", message)
export const badFormat = (message = "Input string was not in a correct format."): CsException =>
  new CsException("FormatException", message)
export const overflow = (
  message = "Value was either too large or too small for the target type.",
): CsException => new CsException("OverflowException", message)
export const invalidOperation = (message: string): CsException =>
  new CsException("InvalidOperationException", message)
export const indexOutOfRange = (): CsException =>
  new CsException("IndexOutOfRangeException", "Index was outside the bounds of the array.")

/**
 * The exception that C# would have thrown: the library's own exceptions, and a NullReferenceException for a null argument that is not allowed. Undefined
 * for limits and bugs of the gateway.
 */
export function asException(thrown: unknown): CsException | undefined {
  if (thrown instanceof CsException) return thrown
  return thrown instanceof TypeError ? nullReference() : undefined
}
