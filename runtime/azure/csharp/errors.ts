/** The exceptions of C# that the library throws or a program may throw and catch, with what each one is a kind of. */
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
 * An exception of C#: thrown by the library and by `throw`, caught by `catch`. Uncaught it is what the expression came to.
 * `message` is .NET's wording where that is documented; it may hold data of the request.
 */
export class CsException extends Error {
  override readonly name = "CsException"
  readonly type: string
  readonly inner: CsException | null
  /** Where in the source of the expression it arose, in UTF-16 units; set by the innermost call that has a place. */
  at: number | undefined

  constructor(type: string, message: string, inner: CsException | null = null) {
    // Without a stack: the frames would be closures that say nothing, and collecting them costs more than most expressions.
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

/** The program used up what one evaluation may take. No `catch` of the program sees it. */
export class CsLimitError extends Error {
  override readonly name = "CsLimitError"
}

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
 * What C# would have thrown: the library's own exceptions, and a NullReferenceException where an argument was null that must not be.
 * Undefined for limits and mistakes of ours.
 */
export function asException(thrown: unknown): CsException | undefined {
  if (thrown instanceof CsException) return thrown
  return thrown instanceof TypeError ? nullReference() : undefined
}
