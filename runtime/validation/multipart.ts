/** A part of a form (RFC 7578). */
export interface Part {
  readonly name: string
  readonly filename: string | undefined
  /** Lower case, without parameters. */
  readonly media: string
  readonly content: Buffer
}

const partsMax = 1000
const headBytesMax = 8192

/** What is wrong with a form, in words. */
export class FormProblem extends Error {
  override readonly name = "FormProblem"
}

/**
 * The parts of a `multipart/form-data` body (RFC 7578, RFC 2046 §5.1). `contentType` is the message's field, with the boundary.
 * @throws FormProblem
 */
export function partsOf(body: Buffer, contentType: string): Part[] {
  const boundary = boundaryOf(contentType)
  if (boundary === undefined) throw new FormProblem("has no boundary in its Content-Type")
  const delimiter = Buffer.from(`\r\n--${boundary}`, "latin1")
  // The first delimiter has no line before it.
  const text = Buffer.concat([Buffer.from("\r\n"), body])
  const parts: Part[] = []
  let at = text.indexOf(delimiter)
  while (at !== -1) {
    const start = at + delimiter.length
    if (text.toString("latin1", start, start + 2) === "--") return parts
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

/** The boundary of a Content-Type (RFC 2046 §5.1.1). */
function boundaryOf(contentType: string): string | undefined {
  const found = /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType)
  return found?.[1] ?? found?.[2]
}

/** `bytes` begin with the line end before the head. */
function partOf(bytes: Buffer): Part {
  const end = bytes.indexOf("\r\n\r\n")
  if (end === -1 || end > headBytesMax)
    throw new FormProblem("has a part without a head, or with too long a one")
  const fields = new Map<string, string>()
  for (const line of bytes.toString("utf8", 2, Math.max(2, end)).split("\r\n")) {
    const at = line.indexOf(":")
    if (at > 0) fields.set(line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim())
  }
  const disposition = fields.get("content-disposition") ?? ""
  const name = parameterOf(disposition, "name")
  if (!/^form-data\s*(?:;|$)/i.test(disposition) || name === undefined)
    throw new FormProblem("has a part without a name")
  const media = (fields.get("content-type") ?? "text/plain").split(";", 1)[0] as string
  return {
    name,
    filename: parameterOf(disposition, "filename"),
    media: media.trim().toLowerCase(),
    content: bytes.subarray(end + 4),
  }
}

function parameterOf(field: string, name: string): string | undefined {
  const found = new RegExp(`;\\s*${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]+))`, "i").exec(field)
  return found?.[1]?.replace(/\\(.)/g, "$1") ?? found?.[2]
}
