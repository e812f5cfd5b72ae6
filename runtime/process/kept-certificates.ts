import { createHash, randomUUID } from "node:crypto"
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { CertificateDisk } from "../acme/acme-certificates.ts"
import { type RuntimeSettings, spoolOf } from "./settings.ts"

/** Certificates from ACME in a folder, for a start without the database. They are as encrypted as there, so a file reveals no key. */
class KeptCertificates implements CertificateDisk {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async read(id: string): Promise<string | undefined> {
    return await readFile(this.#pathOf(id), "utf8").catch(() => undefined)
  }

  async write(id: string, sealed: string): Promise<void> {
    // Several processes may write at once, so each one writes a file of its own and then renames it.
    const own = join(this.#folder, `${randomUUID()}.tmp`)
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      await writeFile(own, sealed, { mode: 0o600 })
      await rename(own, this.#pathOf(id))
    } catch (error) {
      await rm(own, { force: true }).catch(() => undefined)
      throw error
    }
  }

  #pathOf(id: string): string {
    return join(this.#folder, `${createHash("sha256").update(id).digest("hex").slice(0, 32)}.sealed`)
  }
}

/** Beside the kept plan, and only where one is kept. Undefined for an embedded database, which cannot be unavailable alone. */
export function keptCertificatesOf(settings: RuntimeSettings): CertificateDisk | undefined {
  if (settings.keepPlan === false || "folder" in settings.database) return undefined
  return new KeptCertificates(join(spoolOf(settings), "certificates"))
}
