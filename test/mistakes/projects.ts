import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../structure/tree.ts"

/** A valid project. `gateway.conf` is its entry. */
export interface Example {
  readonly name: string
  readonly files: ReadonlyMap<string, string>
}

function read(folder: string, paths: readonly string[]): Map<string, string> {
  return new Map(paths.map((path) => [path, readFileSync(join(projectRoot, folder, path), "utf8")]))
}

function below(folder: string): string[] {
  return readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "README.md")
    .map((entry) => join(entry.parentPath, entry.name).slice(join(projectRoot, folder).length + 1))
    .map((path) => path.replaceAll("\\", "/"))
    .sort()
}

const own = read("", [
  "gateway.conf",
  "models/acme.fga",
  "models/catalog.openapi.yaml",
  "models/stock.policy.xml",
  "models/teams/status.conf",
  "models/tests/acme.fga.yaml",
])

/** Declarations of one team of the large project, with what the others do not use: CORS, timeouts of backends, caches, keys. */
function team(number: number): string {
  return `
backend team${number} {
  url     "https://team${number}.acme.example/api"
  timeout connect 1s total ${5 + (number % 20)}s
}

policy rules${number} {
  inbound {
    header set "X-Team" "${number}"
    query remove "trace"
  }
}

api team${number} {
  path    "/teams/${number}"
  backend team${number}
  auth    jwt acme { claim scope has "team${number}.read" }
  limit   ${100 + number} per 1m by jwt.sub else ip
  use     rules${number}

  cors {
    origins "https://team${number}.acme.example" "https://admin.acme.example"
    methods GET PUT DELETE
    headers "X-Request-Id"
    max-age 10m
  }

  inbound {
    header set "X-User" "\${jwt.sub}"
    when (request.header("X-Mode") == "test") {
      respond 403 { body json ({"error": "not here", "user": jwt.sub}) }
    } else {
      header default "X-Mode" "live"
    }
  }

  outbound {
    header remove "X-Powered-By"
    when (response.status >= 500) {
      header set "Retry-After" "30"
    }
  }

  GET    "/"       { cache response 30s }
  GET    "/{id}"   { require viewer of "doc${number}:\${path.id}" for "user:\${jwt.sub}" }
  PUT    "/{id}"   { require editor of "doc${number}:\${path.id}" for "user:\${jwt.sub}" }
  DELETE "/{id}"   { require owner of "doc${number}:\${path.id}" for "user:\${jwt.sub}" }
  POST   "/import" {
    timeout 60s
    inbound { header set "X-Import" "yes" }
  }
}
`
}

function typeOf(number: number): string {
  return `
type doc${number}
  relations
    define parent: [doc${number}]
    define owner: [user]
    define editor: [user, team#member] or owner
    define viewer: [user] or editor or viewer from parent
`
}

function pathOf(number: number): string {
  return `  /parts${number}/{id}:
    get:
      operationId: getPart${number}
      parameters:
        - { name: id, in: path, required: true, schema: { type: string } }
        - name: limit
          in: query
          schema: { type: integer, minimum: 1, maximum: 100 }
      responses:
        "200":
          description: A part.
          content:
            application/json:
              schema: { $ref: "#/components/schemas/Item" }
`
}

const policySteps = Array.from(
  { length: 20 },
  (_, number) => `        <set-header name="X-Step-${number}" exists-action="override">
            <value>step ${number}</value>
        </set-header>
        <set-query-parameter name="step${number}" exists-action="skip">
            <value>@(context.Request.Method)</value>
        </set-query-parameter>
`,
).join("")

/** The project of this repository with 40 more teams: 2,200 lines in one gateway.conf. */
function large(): Map<string, string> {
  const numbers = Array.from({ length: 40 }, (_, number) => number)
  const files = new Map(own)
  const change = (path: string, how: (text: string) => string): void => {
    files.set(path, how(files.get(path) as string))
  }
  change("gateway.conf", (text) => text + numbers.map(team).join(""))
  change("models/acme.fga", (text) =>
    text.replace("\ncondition ", `${numbers.map(typeOf).join("")}\ncondition `),
  )
  change("models/catalog.openapi.yaml", (text) =>
    text.replace("\ncomponents:", `\n${numbers.map(pathOf).join("")}components:`),
  )
  change("models/stock.policy.xml", (text) => text.replace("    </inbound>", `${policySteps}    </inbound>`))
  return files
}

/** Three projects of different size. */
export const examples: readonly Example[] = [
  { name: "small", files: read("models/examples/b2b", below("models/examples/b2b")) },
  { name: "middle", files: own },
  { name: "large", files: large() },
]
