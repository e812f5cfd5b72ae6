import { basename } from "node:path"
import { describe, expect, test } from "vitest"
import type { Compiled } from "../../compiler/compile.ts"
import { Report } from "../../compiler/core/diagnostic.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import { exportParts, versionsOfApi } from "../../compiler/gateway/export-api.ts"
import { exportDocument } from "../../compiler/openapi/export-document.ts"
import { printGateway } from "../../compiler/openapi/print-gateway.ts"
import { readApiDocument } from "../../compiler/openapi/read-document.ts"
import { renderDiagnostics } from "../../compiler/render/diagnostics.ts"
import { projectsIn } from "../cases.ts"
import { compile } from "../compile.ts"

// What is exported of an API, and imported again as text of gateway.conf, has the same operations and asks for the same.

interface Exported {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly security?: readonly object[] }>>>
  >
  readonly components?: { readonly securitySchemes?: Readonly<Record<string, object>> }
}

function exported(result: Compiled, api: string, version: string | null): Exported {
  const { plan, described, documentation } = result
  if (plan === undefined) throw new Error("there is no plan")
  const { routes, steps } = plan.plan
  const served = {
    routes: Object.fromEntries(Object.entries(routes).filter(([key]) => !documentation.has(key))),
    step: (id: string) => steps[id],
    errors: "problem" as const,
  }
  return exportDocument(exportParts(served, described, api, version)) as unknown as Exported
}

/** Operations with what they ask for: schemes by what they are, as names of schemes and parameters are the reader's to choose. */
function asked({ paths, components }: Exported): string[] {
  const kindOf = (name: string): string => {
    const scheme = (components?.securitySchemes?.[name] ?? {}) as Record<string, unknown>
    const { type, in: place, name: key = "" } = scheme
    // Here they are all the same: a token in Authorization.
    if (type === "oauth2" || type === "openIdConnect" || scheme["scheme"] === "bearer") return "bearer"
    return [type, scheme["scheme"], place, String(key).toLowerCase()].join(" ").trim()
  }
  return Object.entries(paths)
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { security = [] }]) => {
        const ways = security.map((way) => Object.keys(way).map(kindOf).sort().join(" and "))
        return `${method} ${path.replaceAll(/\{[^}]+\}/g, "{}")}: ${ways.sort().join(" or ")}`
      }),
    )
    .sort()
}

/** Its listener asks for certificates, as `auth certificate` requires. */
const gateway = `
gateway g {
  listen 127.0.0.1:8000 { tls { certificate c; client-certificate request { ca file("ca.pem") } } }
  trust none
}
certificate c { cert file("c.pem"); key file("c.key") }`

const apis = [...projectsIn("gateway", "described", "diff", "policy-xml", "documents")].flatMap(
  ([path, files]) => {
    const result = compile(new MemoryFiles(files), "gateway.conf")
    const routes = result.plan?.plan.routes ?? {}
    const names = [...new Set(Object.values(routes).map(({ api }) => api))]
    return names.flatMap((api) =>
      versionsOfApi({ routes }, api).map(
        (version) => [`${basename(path)}: ${api} ${version ?? ""}`, result, api, version] as const,
      ),
    )
  },
)

describe("exported and imported again", () => {
  test("there is something to try", () => expect(apis.length).toBeGreaterThan(100))

  test.each(apis)("%s", (_, result, api, version) => {
    const before = exported(result, api, version)
    const report = new Report()
    const file = new SourceFile("made.json", JSON.stringify(before))
    const document = readApiDocument(file, report, () => undefined)
    expect(report.sorted().filter(({ severity }) => severity === "error")).toEqual([])
    if (document === undefined) throw new Error("it is not read")
    const text = printGateway(document, { name: "again", path: "/again", file: "made.json", mock: false })
    const again = compile(new MemoryFiles([["gateway.conf", `${gateway}\n${text}`]]), "gateway.conf")
    if (asked(before).length === 0) return
    // A token in a cookie is a key to OpenAPI, and no text says what a key in a cookie is: somebody has to decide.
    if (text.includes("requires a key in the cookie")) {
      const errors = again.diagnostics.filter(({ severity }) => severity === "error")
      const codes = [...new Set(errors.map(({ code }) => code))]
      // Beside another way to authenticate the key is left out, and nothing need be missing.
      const hasOther = /^\s*auth (?!none)/m.test(text)
      expect(hasOther && codes.length === 0 ? ["SP3004"] : codes).toEqual(["SP3004"])
      return
    }
    expect(
      renderDiagnostics(
        again.diagnostics.filter(({ severity }) => severity === "error"),
        "text",
        { colour: false },
      ) + (again.plan === undefined ? text : ""),
    ).toBe("")
    expect(asked(exported(again, "again", null))).toEqual(asked(before))
  })
})
