import { readFileSync, statSync } from "./fs.ts"

// `node:fs/promises`, as fs.ts.

export async function readFile(
  path: string,
  options?: string | { readonly encoding?: string },
): Promise<string | Uint8Array> {
  return readFileSync(path, typeof options === "string" ? options : options?.encoding)
}

export async function stat(path: string): Promise<ReturnType<typeof statSync>> {
  return statSync(path)
}
