import { createHash, randomUUID } from "node:crypto"
import { mkdir, open, rename, rm } from "node:fs/promises"
import { dirname } from "node:path"

/** Why a file of this process is not used; the message is for operators. */
export class Unusable extends Error {}

/**
 * Reads a file, if nobody else could have written it.
 * @throws Unusable, or the system's error
 */
export async function readOwnFile(path: string): Promise<string> {
  const file = await open(path, "r")
  try {
    const { uid, mode } = await file.stat()
    // A user who can write the file decides which plan runs.
    if ((mode & 0o022) !== 0) throw new Unusable("other users may write it")
    if (process.getuid !== undefined && uid !== process.getuid())
      throw new Unusable("it belongs to another user")
    return await file.readFile("utf8")
  } finally {
    await file.close()
  }
}

/** Replaces a file, for its owner alone. It is synced before it is renamed, so that it is never half written. */
export async function replaceOwnFile(path: string, text: string): Promise<void> {
  // Several processes may write at once, so each one writes a file of its own and then renames it.
  const own = `${path}.${randomUUID()}.tmp`
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const file = await open(own, "wx", 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(own, path)
  } catch (error) {
    await rm(own, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Syncs a folder, so that a new or removed name in it survives a loss of power. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r")
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** A file's text: the digest of its content as the first line, then the content. */
export function sealText(content: string): string {
  return `${digestOf(content)}\n${content}`
}

/**
 * The content of a sealed text.
 * @throws Unusable when it is damaged
 */
export function openSealed(text: string): string {
  const end = text.indexOf("\n")
  const content = text.slice(end + 1)
  if (end < 0 || digestOf(content) !== text.slice(0, end)) throw new Unusable("its digest does not match")
  return content
}

/** SHA-256 in hex. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}
