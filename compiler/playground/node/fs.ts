import { Buffer } from "./buffer.ts"

// `node:fs` over the texts of the open project, which are in the folder `/`.

let files: Readonly<Record<string, string>> = {}

/** The project whose files can be read from now on, by path without a leading `/`. */
export function setFiles(texts: Readonly<Record<string, string>>): void {
  files = texts
}

/** @throws Error ENOENT for a path that the project does not have */
export function readFileSync(path: string, encoding?: string): string | Uint8Array {
  const text = files[path.replace(/^\/+/, "")]
  if (text === undefined)
    throw Object.assign(new Error(`ENOENT: the project has no file \`${path.replace(/^\/+/, "")}\``), {
      code: "ENOENT",
    })
  return encoding === undefined ? Buffer.from(text) : text
}

/** @throws Error ENOENT for a path that the project does not have */
export function statSync(path: string): {
  readonly ino: number
  readonly mtimeMs: number
  readonly size: number
} {
  return { ino: 0, mtimeMs: 0, size: readFileSync(path).length }
}
