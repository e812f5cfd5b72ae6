import { execFileSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { delimiter, join } from "node:path"

const debianFolder = "/usr/lib/postgresql"

/** Folder with `postgres` and `initdb`: from PATH, else the newest of Debian's; undefined when there is none that can be used. */
export const postgresFolder: string | undefined = find()

/** Why tests that need a PostgreSQL server cannot run here; undefined when they can. */
export const postgresMissing: string | undefined =
  postgresFolder === undefined
    ? `needs a PostgreSQL server: no \`postgres\` and \`initdb\` in PATH or ${debianFolder}/*/bin`
    : undefined

/** PostgreSQL refuses to run as root; then it runs as Debian's user. */
export function postgresUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}

/** Path of one of PostgreSQL's programs, which need not lie beside the server. */
export function postgresProgram(name: string): string {
  const folder = folders().find((each) => existsSync(join(each, name)))
  if (folder === undefined) throw new Error(`no \`${name}\` in PATH or ${debianFolder}/*/bin`)
  return join(folder, name)
}

function find(): string | undefined {
  if (process.env["SALLYPORT_TEST_NO_POSTGRES"]) return undefined
  return folders().find(
    (folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")),
  )
}

function folders(): readonly string[] {
  const debian = existsSync(debianFolder)
    ? readdirSync(debianFolder)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(debianFolder, version, "bin"))
    : []
  return [...(process.env["PATH"] ?? "").split(delimiter), ...debian].filter((folder) => folder !== "")
}
