import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { projectDatabase } from "../store/databases.ts"
import { projectRoot } from "../structure/tree.ts"
import { sampled } from "../support/random-run.ts"
import { eventually, freePorts, start } from "./sallyport-process.ts"

// compiler/azure and runtime/azure are a quarter of the code. What a process loads is read from V8's coverage of the files in dist/, and what these
// are made of from the build's own list, so that the test also fails when a chunk of the wing gets something that everybody needs.

const { outputs } = JSON.parse(readFileSync(`${projectRoot}dist/meta.json`, "utf8")) as {
  outputs: Record<string, { readonly inputs: Readonly<Record<string, unknown>> }>
}
const isOfWing = (path: string) => /^(?:compiler|runtime)\/azure\/|^node_modules\/liquidjs\//.test(path)

/** Sources a process has loaded, by the coverage that it left in a folder when it ended. */
function loaded(coverage: string): string[] {
  const found = new Set<string>()
  for (const file of readdirSync(coverage)) {
    const { result } = JSON.parse(readFileSync(join(coverage, file), "utf8")) as { result: { url: string }[] }
    for (const { url } of result)
      for (const source of Object.keys(outputs[`dist/${basename(url)}`]?.inputs ?? {})) found.add(source)
  }
  return [...found]
}

const projects = [
  { what: "without a document", statement: "", fromWing: false },
  { what: "with a document", statement: 'policy xml "one.xml"', fromWing: true },
  {
    what: "with a template",
    statement: 'outbound { body set text liquid "{{ context.RequestId }}" }',
    fromWing: true,
  },
]

const document = `<policies>
  <inbound><base /><set-header name="x-id"><value>@(context.RequestId.ToString())</value></set-header></inbound>
</policies>`

const gatewayConf = (ports: readonly number[], statement: string) => `gateway acme {
  listen 127.0.0.1:${ports[0]}
  trust none
}
backend things { url "http://127.0.0.1:${ports[3]}" }
api things {
  path "/things"
  auth none
  backend things
  ${statement}
  GET "/{id}"
}
`

describe.each(projects)("a project $what", (project) => {
  const { statement, fromWing } = project
  let folder = ""
  let ports: readonly number[] = []
  let database: Awaited<ReturnType<typeof projectDatabase>> | undefined
  const expectWing = (sources: readonly string[], wing: RegExp) => {
    expect(sources.some((path) => path.startsWith("compiler/cli/"))).toBe(true)
    const ofWing = sources.filter(isOfWing)
    if (fromWing) expect(ofWing.some((path) => wing.test(path))).toBe(true)
    else expect(ofWing).toEqual([])
  }
  /** Starts a command that runs on, ends it when its gateway answers, and answers what it loaded. */
  const sourcesOf = async (...argv: string[]) => {
    const coverage = join(folder, `coverage-${argv[0]}`)
    const token = argv[0] === "serve" ? "a-token-for-the-tests-of-the-wing" : ""
    const env = {
      NODE_V8_COVERAGE: coverage,
      SALLYPORT_DATABASE_URL: database?.url ?? "",
      SALLYPORT_CONTROL_TOKEN: token,
      SALLYPORT_CONTROL_LISTEN: `127.0.0.1:${ports[1]}`,
    }
    const running = start(folder, env, ...argv)
    try {
      if (argv[0] === "validate") expect(await running.exited, running.output.err).toBe(0)
      // Any answer: the backends of `dev` are gone when `serve` runs.
      else await eventually(() => fetch(`http://127.0.0.1:${ports[0]}/things/1`))
      await running.stop()
    } finally {
      await running.stop("SIGKILL")
    }
    return loaded(coverage)
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "sallyport-wing-"))
    ports = await freePorts(5)
    database = await projectDatabase(folder)
    writeFileSync(join(folder, "one.xml"), document)
    writeFileSync(join(folder, "gateway.conf"), gatewayConf(ports, statement))
  })
  afterAll(async () => {
    await database?.drop()
    rmSync(folder, { recursive: true, force: true })
  })

  test("validate", async () => {
    expectWing(await sourcesOf("validate"), /^compiler\/azure\/wing\.ts$/)
  })

  // Commands that run on take seconds of CPU time each.
  if (!sampled(projects, 2).includes(project)) return
  test("dev, and serve on what it left", async () => {
    const backends = `127.0.0.1:${ports[3]},127.0.0.1:${ports[4]}`
    const dev = await sourcesOf("dev", "--identity", `127.0.0.1:${ports[2]}`, "--backends", backends)
    expectWing(dev, /^compiler\/azure\/wing\.ts$/)
    if (fromWing) expectWing(dev, /^runtime\/azure\/wing\.ts$/)
    expectWing(await sourcesOf("serve"), /^runtime\/azure\/wing\.ts$/)
  })
})
