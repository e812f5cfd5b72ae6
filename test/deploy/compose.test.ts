import { execFileSync, spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Ajv2020 } from "ajv/dist/2020.js"
import { describe, expect, onTestFinished, test } from "vitest"
import { parse } from "yaml"
import { DiskFiles } from "../../compiler/core/disk-files.ts"
import manifest from "../../package.json" with { type: "json" }
import { compile } from "../compile.ts"
import { projectRoot } from "../structure/tree.ts"
import { outputOf, programPath } from "../support/program.ts"
import { unknownVariables } from "./kubernetes-objects.ts"

interface Service {
  readonly image: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly secrets?: readonly string[]
  readonly volumes?: readonly string[]
  readonly networks: readonly string[]
  readonly ports?: readonly string[]
  readonly cap_drop: readonly string[]
  readonly security_opt: readonly string[]
  readonly read_only?: boolean
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly stop_grace_period?: string
  readonly restart: string
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>
  readonly volumes: object
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
}

const folder = `${projectRoot}runtime/deploy/compose`
const text = readFileSync(`${folder}/compose.yaml`, "utf8")
const compose = parse(text, { merge: true }) as Compose
const services = Object.entries(compose.services)

describe("the Compose file", () => {
  test("matches the schema of the Compose Specification", () => {
    const schema = JSON.parse(readFileSync(new URL("schemas/compose.json", import.meta.url), "utf8"))
    const validate = new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).compile(schema)
    validate(compose)
    expect(validate.errors ?? []).toEqual([])
    expect(validate({ services: { a: { image: "a", healthchek: {} } } })).toBe(false)
  })

  test("names only secrets, volumes, networks, services and variables that exist", () => {
    for (const [
      name,
      { secrets = [], volumes = [], networks, depends_on = {}, environment = {} },
    ] of services) {
      for (const secret of secrets) expect(compose.secrets, name).toHaveProperty(secret)
      for (const network of networks) expect(compose.networks, name).toHaveProperty(network)
      for (const service of Object.keys(depends_on)) expect(compose.services, name).toHaveProperty(service)
      for (const [source = ""] of volumes.map((volume) => volume.split(":")))
        if (source.startsWith(".")) expect(statSync(join(folder, source)), source).toBeDefined()
        else expect(compose.volumes, name).toHaveProperty(source)
      expect(unknownVariables(Object.keys(environment)), name).toEqual([])
      for (const [variable, value] of Object.entries(environment))
        for (const [, secret = ""] of `${value}`.matchAll(/\/run\/secrets\/(\w+)/g))
          expect(secrets, `${name} ${variable}`).toContain(secret)
    }
    const example = readFileSync(`${folder}/.env.example`, "utf8")
    for (const [, variable = ""] of text.matchAll(/(?<!\$)\$\{(\w+)/g))
      expect(example, variable).toMatch(new RegExp(`^${variable}=.`, "m"))
  })

  test("has no password, restricted containers, and the image of this version", () => {
    // A password is in a file of `secrets/`, or read from one.
    expect(text).not.toMatch(/PASSWORD(?!_FILE)[A-Z_]*: *(?!\$)\S/)
    expect(text.match(/PASSWORD="[^"]*"/g)?.every((each) => each.includes("$$(</run/secrets/"))).toBe(true)
    for (const [name, { cap_drop, security_opt, image }] of services) {
      expect(cap_drop, name).toEqual(["ALL"])
      expect(security_opt, name).toEqual(["no-new-privileges:true"])
      expect(image, name).not.toMatch(/:latest|^[^:]*$/)
      if (image.startsWith("$"))
        expect(readFileSync(`${folder}/.env.example`, "utf8")).toContain(`sallyport:${manifest.version}\n`)
      if (image.startsWith("$")) expect(image).toContain(`sallyport:${manifest.version}}`)
    }
    expect(compose.networks["inner"]).toEqual({ internal: true })
    const open = services.flatMap(([, { ports = [] }]) =>
      ports.filter((port) => !port.startsWith("127.0.0.1:")),
    )
    expect(open).toEqual(["8000:8000"])
  })

  test("has a health check of every service that stays, except the collector, whose image has no shell", () => {
    const without = services.filter(
      ([, { healthcheck, restart }]) => restart !== "no" && healthcheck === undefined,
    )
    expect(without.map(([name]) => name)).toEqual(["collector"])
    expect(Number.parseInt(compose.services["sallyport"]?.stop_grace_period ?? "", 10)).toBeGreaterThan(11)
  })

  test("starts a project that compiles, with the ports and the services of the containers", () => {
    const { plan, diagnostics } = compile(new DiskFiles(folder), "gateway.conf")
    expect(diagnostics).toEqual([])
    const project = readFileSync(`${folder}/gateway.conf`, "utf8")
    for (const [, secret = ""] of project.matchAll(/file\("\/run\/secrets\/(\w+)"\)/g))
      expect(compose.services["sallyport"]?.secrets).toContain(secret)
    for (const [, host = ""] of project.matchAll(/"http:\/\/([a-z]+):/g))
      expect(compose.services).toHaveProperty(host)
    const ports = compose.services["sallyport"]?.ports?.map((port) => Number(port.split(":").at(-1)))
    const { gateway, authz } = plan?.plan ?? {}
    expect([gateway, authz].map((side) => side?.listen[0])).toMatchObject([
      { port: ports?.[0] },
      { port: ports?.[1] },
    ])
    expect(ports?.slice(2)).toEqual([8082])
  })
})

/** A copy of the folder, prepared as README says. */
function prepared(): string {
  const copy = mkdtempSync(join(tmpdir(), "sallyport-compose-"))
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }))
  cpSync(folder, copy, { recursive: true })
  execFileSync("sh", [`${copy}/prepare.sh`])
  return copy
}

test("prepare.sh makes a secret for each file that the containers read, and keeps them", () => {
  const copy = prepared()
  const read = () => Object.values(compose.secrets).map(({ file }) => readFileSync(join(copy, file), "utf8"))
  const first = read()
  expect(statSync(join(copy, "secrets")).mode & 0o777).toBe(0o700)
  for (const value of first) expect(value).toMatch(/^(redis:\/\/:)?[0-9a-f]{48}(@redis:6379)?$/)
  expect(new Set(first).size).toBe(first.length)
  execFileSync("sh", [`${copy}/prepare.sh`])
  expect(read()).toEqual(first)
})

/** The command of Compose, as a program or as a part of Docker. Debian's `docker-compose` is version 1, without today's specification. */
function composeCommand(): readonly string[] | undefined {
  const alone = programPath("docker-compose")
  const docker = programPath("docker")
  const commands = [
    ...(alone === undefined ? [] : [[alone]]),
    ...(docker === undefined ? [] : [[docker, "compose"]]),
  ]
  return commands.find(([program = "", ...words]) => {
    const { stdout, status } = spawnSync(program, [...words, "version", "--short"], { encoding: "utf8" })
    return status === 0 && !stdout.startsWith("1.")
  })
}

test("Compose's own reader accepts the file", (context) => {
  const command = composeCommand()
  if (command === undefined)
    return context.skip("needs Docker Compose 2 or newer; version 1 does not know `name`")
  const [program = "", ...words] = command
  const config = outputOf(program, [...words, "--file", "compose.yaml", "config"], prepared())
  const { name, services } = parse(config) as { name: string } & Compose
  expect(name).toBe("sallyport")
  expect(Object.keys(services).sort()).toEqual(Object.keys(compose.services).sort())
})
