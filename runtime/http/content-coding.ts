import { promisify } from "node:util"
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib"

/** A content whose coding is unknown, that is damaged, or that is too large when decoded. */
export class CodingError extends Error {
  override readonly name = "CodingError"
  readonly reason: "unknown" | "damaged" | "too-large"

  constructor(reason: "unknown" | "damaged" | "too-large", message: string) {
    super(message)
    this.reason = reason
  }
}

/** Legitimate messages do not use more codings; more are an attempt to cause work. */
const codingsMax = 3

type Decode = (data: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

const rawInflate: Decode = promisify(inflateRaw)

/** RFC 9110 §8.4.1. Some senders omit the zlib wrapper of `deflate`; the first byte shows it. */
const deflate: Decode = (data, options) =>
  ((data[0] ?? 0) & 0x0f) === 8 ? (promisify(inflate) as Decode)(data, options) : rawInflate(data, options)

const decoders: Readonly<Record<string, Decode>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate,
  br: promisify(brotliDecompress),
}

/** The codings of a Content-Encoding field in the order in which they were applied, without `identity`. */
export function codingsOf(field: string | undefined): readonly string[] {
  if (field === undefined || field === "") return []
  return field
    .split(",")
    .map((each) => each.trim().toLowerCase())
    .filter((each) => each !== "" && each !== "identity")
}

/** Decodes a content to at most `bytesMax` bytes. Rejects with CodingError. */
export async function decodeContent(
  data: Buffer,
  codings: readonly string[],
  bytesMax: number,
): Promise<Buffer> {
  if (codings.length > codingsMax)
    throw new CodingError(
      "unknown",
      `the content has ${codings.length} codings; the maximum is ${codingsMax}`,
    )
  let content = data
  for (const coding of codings.toReversed()) {
    const decode = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined
    if (decode === undefined)
      throw new CodingError("unknown", `the content coding \`${coding.slice(0, 40)}\` is not supported`)
    content = await decodeOnce(decode, content, coding, bytesMax)
  }
  return content
}

/** Removes one coding; the size of the result is limited while it is made. */
async function decodeOnce(decode: Decode, data: Buffer, coding: string, bytesMax: number): Promise<Buffer> {
  try {
    return await decode(data, { maxOutputLength: Math.max(1, bytesMax) })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ERR_BUFFER_TOO_LARGE")
      throw new CodingError(
        "too-large",
        `the content has more than ${bytesMax} bytes after decoding \`${coding}\``,
      )
    throw new CodingError("damaged", `the content is not valid \`${coding}\``)
  }
}
