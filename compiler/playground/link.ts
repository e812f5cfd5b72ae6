import type { ProjectTexts } from "./protocol.ts"

/** Bytes of a project's texts, uncompressed: a link with more is refused, however small it is. */
const bytesMax = 4_000_000
/** Characters of a link. Browsers take 2 MB; chats and mails often less than 100 kB. */
export const linkCharactersMax = 1_000_000

/** The fragment that holds a project: compressed, and never sent to a server. */
export async function fragmentOf(texts: ProjectTexts): Promise<string> {
  const stream = new Blob([JSON.stringify(texts)]).stream().pipeThrough(new CompressionStream("deflate-raw"))
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer())
  let text = ""
  for (const byte of bytes) text += String.fromCharCode(byte)
  return `p=${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`
}

/** The project of a fragment. @throws Error that says what is wrong with the link */
export async function textsOfFragment(value: string): Promise<ProjectTexts> {
  let bytes: Uint8Array<ArrayBuffer>
  try {
    bytes = Uint8Array.from(atob(value.replaceAll("-", "+").replaceAll("_", "/")), (each) =>
      each.charCodeAt(0),
    )
  } catch {
    throw new Error("the link is damaged: a part of it may be missing")
  }
  const parsed: unknown = JSON.parse(await inflated(bytes))
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    throw new Error("the link holds no project")
  const texts: Record<string, string> = {}
  for (const [path, text] of Object.entries(parsed)) {
    if (typeof text !== "string" || !isPath(path)) throw new Error("the link holds no project")
    texts[path] = text
  }
  return texts
}

/** Whether a path is relative, without `..` and without empty parts. */
export function isPath(path: string): boolean {
  return path.length <= 200 && path.split("/").every((part) => part !== "" && part !== "." && part !== "..")
}

async function inflated(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const reader = new Blob([bytes])
    .stream()
    .pipeThrough(new DecompressionStream("deflate-raw"))
    .pipeThrough(new TextDecoderStream())
    .getReader()
  let text = ""
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return text
      text += value
      if (text.length > bytesMax) break
    }
  } catch {
    throw new Error("the link is damaged: a part of it may be missing")
  }
  await reader.cancel()
  throw new Error("the project in the link is larger than 4 MB")
}
