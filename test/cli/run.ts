import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { onTestFinished } from "vitest"
import { prettifyError } from "zod"
import { main } from "../../compiler/cli/main.ts"
import { loadOutputSchemas, type OutputSchema } from "../../compiler/cli/output-schemas.ts"
import { projectRoot } from "../structure/tree.ts"

/** What a command line answered. */
export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** The world of a command line in a test. `answers` makes it a terminal whose person says them in turn. */
export interface World {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly answers?: readonly string[]
  /** What is typed into a terminal that does not show it; its output may go elsewhere. */
  readonly hidden?: readonly string[]
  readonly progress?: boolean
  /** Sees the error output while the command runs. */
  readonly onErr?: (text: string) => void
  /** What is piped into it. */
  readonly input?: readonly string[]
}

/** Runs a command line through the real table of commands. */
export async function run(world: World, ...argv: string[]): Promise<Outcome> {
  const seen = { out: "", err: "" }
  const answers = [...(world.answers ?? [])]
  const hidden = [...(world.hidden ?? [])]
  const code = await main(argv, {
    out: (text) => {
      seen.out += text
    },
    err: (text) => {
      seen.err += text
      world.onErr?.(text)
    },
    cwd: world.cwd,
    env: world.env ?? {},
    interactive: world.answers !== undefined,
    typed: world.answers !== undefined || world.hidden !== undefined,
    progress: world.progress ?? false,
    colour: { out: false, err: false },
    columns: 100,
    page: async (text) => {
      seen.out += text
    },
    ask: async (question) => {
      seen.err += question
      return answers.shift() ?? ""
    },
    askHidden: async (question) => {
      seen.err += question
      return hidden.shift() ?? ""
    },
    async *lines() {
      yield* world.input ?? []
    },
    async *bytes() {
      for (const line of world.input ?? []) yield Buffer.from(`${line}\n`)
    },
    converse() {
      throw new Error("a conversation needs a terminal: test/cli/shell.test.ts has one")
    },
    untilStopped: async () => {},
  })
  if (isJson(argv)) await demandSchema(argv, seen.out)
  return { code, ...seen }
}

/** With `--output` the document is in a file. */
function isJson(argv: readonly string[]): boolean {
  if (argv.includes("--output")) return false
  const at = argv.indexOf("--format")
  return argv.includes("--json") || (at >= 0 && argv[at + 1] === "json")
}

/** Every JSON document that a test sees has the published schema. */
async function demandSchema(argv: readonly string[], out: string): Promise<void> {
  const outputs = await loadOutputSchemas()
  const name = [2, 1]
    .map((words) => argv.slice(0, words).join(" "))
    .find((each) => Object.hasOwn(outputs, each))
  if (name === undefined || out === "") return
  const { schema, lines } = outputs[name] as OutputSchema
  const documents = lines ? out.trimEnd().split("\n") : [out]
  for (const document of documents) {
    const { error } = schema.safeParse(JSON.parse(document))
    if (error === undefined) continue
    const why = `${prettifyError(error)}\nCorrect its schema in compiler/cli/output-schemas.ts.`
    throw new Error(
      `the output of \`sallyport ${name}\` has another form than its schema says:\n${why}\n${document}`,
    )
  }
}

/** A folder of its own for a test, removed when the test is over. Files by path. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-cli-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

/** A copy of the example that the project brings along. */
export function exampleFolder(): string {
  const folder = folderWith({})
  for (const path of ["gateway.conf", "models"])
    cpSync(projectRoot + path, join(folder, path), { recursive: true })
  return folder
}

/** A small project without errors. */
export const small = `gateway acme {
  listen 127.0.0.1:8000
  trust  none
}

backend orders { url "http://127.0.0.1:9001" }

api orders {
  path    "/orders"
  backend orders
  auth    none
  limit   10 per 1m by ip

  GET "/"
}
`
