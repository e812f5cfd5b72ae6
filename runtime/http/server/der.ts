/** A value in DER (X.690): its tag, its whole encoding and its content. */
export interface DerValue {
  readonly tag: number
  readonly whole: Buffer
  readonly content: Buffer
}

/** Tags that certificates, revocation lists and OCSP use. */
export const derTag = {
  integer: 0x02,
  octetString: 0x04,
  null: 0x05,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  explicit0: 0xa0,
  explicit3: 0xa3,
}

/** A value in DER from the whole encodings inside it, or from its content. */
export function derValue(tag: number, ...content: Buffer[]): Buffer {
  const bytes = Buffer.concat(content)
  const { length } = bytes
  const digits = Buffer.from(length.toString(16).padStart(length > 0xff ? 4 : 2, "0"), "hex")
  if (length > 0xffff) throw new RangeError("only values of up to 64 KB are written")
  return Buffer.concat([Buffer.of(tag, ...(length < 0x80 ? [] : [0x80 | digits.length])), digits, bytes])
}

/** The first value in a text of DER. @throws Error when there is none */
export function firstDer(bytes: Buffer): DerValue {
  const { value } = derValues(bytes).next()
  if (value === undefined) throw new Error("it contains no valid DER")
  return value
}

/** The values in a text of DER, in order. @throws Error for bytes that are no DER, and for lengths of more than 4 GB */
export function* derValues(bytes: Buffer): Generator<DerValue, undefined> {
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] as number
    const first = bytes[at + 1] ?? 0x80
    const more = first < 0x80 ? 0 : first & 0x7f
    // Long forms of tags and indefinite lengths do not occur in DER of certificates.
    if ((tag & 0x1f) === 0x1f || first === 0x80 || more > 4) throw new Error("it contains no valid DER")
    const length = more === 0 ? first : bytes.readUIntBE(at + 2, more)
    const start = at + 2 + more
    if (start + length > bytes.length) throw new Error("it contains no complete DER")
    yield {
      tag,
      whole: bytes.subarray(at, start + length),
      content: bytes.subarray(start, start + length),
    }
    at = start + length
  }
}

/** A time in DER (RFC 5280 §4.1.2.5): years of two digits are 1950 to 2049. */
export function derTime({ tag, content }: DerValue): Date {
  const text = content.toString("latin1")
  const digits = tag === derTag.utcTime ? `${Number(text.slice(0, 2)) < 50 ? 20 : 19}${text}` : text
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits)
  if (parts === null) throw new Error("it contains no valid time")
  const [, year, month, day, hour, minute, second] = parts
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}
