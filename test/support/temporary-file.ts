import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Gives `use` the path of a file with this text, and removes the file afterwards. */
export function withFile<Result>(name: string, text: string, use: (path: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-file-"))
  try {
    writeFileSync(join(folder, name), text)
    return use(join(folder, name))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
