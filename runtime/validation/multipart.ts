import { fieldValue } from "./field-value.ts"

/** A part of a form (RFC 7578). */
export interface FormPart {
  readonly name: string
  /** Whether it has a file name. */
  readonly file: boolean
  /** Lower case, without parameters. */
  readonly media: string
  readonly content: Buffer
}

const partsMax = 1000
const headBytesMax = 8192

/** The problem of a form, in words. */
export class FormProblem extends Error {
  override readonly name = "FormProblem"
}

/**
 * The parts of a `multipart/form-data` body (RFC 7578, RFC 2046 §5.1). `contentType` is the field of the message, with the boundary. Forms that servers
 * are known to split differently are rejected: the backend must see the parts that were validated.
 * @throws FormProblem
 */
export function partsOf(body: Buffer, contentType: string): FormPart[] {
  const boundary = fieldValue(contentType)?.parameters.get("boundary")
  if (boundary === undefined || !/^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary))
    throw new FormProblem("has no boundary in its Content-Type")
  const delimiter = Buffer.from(`\r\n--${boundary}`, "latin1")
  // The first delimiter has no preceding line end.
  const text = Buffer.concat([Buffer.from("\r\n"), body])
  const parts: FormPart[] = []
  let at = text.indexOf(delimiter)
  for (let found = 1; at !== -1; found += 1) {
    const start = at + delimiter.length
    if (text.toString("latin1", start, start + 2) === "--") {
      if (linesWith(text, delimiter.subarray(2)) > found) throw new FormProblem("has a broken delimiter")
      return parts
    }
    const line = text.indexOf("\r\n", start)
    if (line === -1 || !/^[ \t]*$/.test(text.toString("latin1", start, line)))
      throw new FormProblem("has a broken delimiter")
    const end = text.indexOf(delimiter, line)
    if (end === -1) break
    if (parts.length === partsMax) throw new FormProblem(`has more than ${partsMax} parts`)
    parts.push(partOf(text.subarray(line, end)))
    at = end
  }
  throw new FormProblem("does not end with its delimiter")
}

/**
 * The number of lines that start with the boundary, after any kind of line end: some parsers accept a bare line feed, and some continue after the
 * closing delimiter.
 */
function linesWith(text: Buffer, dashed: Buffer): number {
  let lines = 0
  for (let at = text.indexOf(dashed); at !== -1; at = text.indexOf(dashed, at + 1))
    if (text[at - 1] === 0x0a || text[at - 1] === 0x0d) lines += 1
  return lines
}

/** `bytes` start with the line end before the head. */
function partOf(bytes: Buffer): FormPart {
  const end = bytes.indexOf("\r\n\r\n")
  if (end === -1 || end > headBytesMax)
    throw new FormProblem("has a part without a head, or with too long a one")
  const fields = fieldsOf(bytes.toString("utf8", 2, Math.max(2, end)))
  const disposition = fieldValue(fields.get("content-disposition") ?? "")
  const name = disposition?.parameters.get("name")
  if (disposition?.value !== "form-data" || name === undefined || disposition.parameters.has("name*"))
    throw new FormProblem("has a part without a name")
  const type = fieldValue(fields.get("content-type") ?? "text/plain")
  if (type === undefined) throw new FormProblem(`has a part \`${shown(name)}\` with a broken Content-Type`)
  const coding = fields.get("content-transfer-encoding")?.toLowerCase() ?? "binary"
  if (!["7bit", "8bit", "binary"].includes(coding))
    throw new FormProblem(`has a part \`${shown(name)}\` in a transfer encoding`)
  if (!/^(?:utf-?8|us-ascii)$/i.test(type.parameters.get("charset") ?? "utf-8"))
    throw new FormProblem(`has a part \`${shown(name)}\` in another charset than UTF-8`)
  const file = disposition.parameters.has("filename") || disposition.parameters.has("filename*")
  return { name, file, media: type.value, content: bytes.subarray(end + 4) }
}

function fieldsOf(head: string): Map<string, string> {
  const fields = new Map<string, string>()
  for (const line of head.split("\r\n")) {
    if (line === "") continue
    const found = /^([\w!#$%&'*+.^`|~-]+):(.*)$/.exec(line)
    const name = found?.[1]?.toLowerCase()
    if (name === undefined || fields.has(name))
      throw new FormProblem("has a part with a broken head, or with a field twice")
    fields.set(name, (found?.[2] ?? "").trim())
  }
  return fields
}

function shown(name: string): string {
  return name.slice(0, 100)
}
