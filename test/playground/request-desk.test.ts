import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { GatewayRequest, ProjectTexts } from "../../compiler/playground/protocol.ts"
import { RequestDesk } from "../../compiler/playground/request-desk.ts"
import { Workbench } from "../../compiler/playground/workbench.ts"
import { projectRoot } from "../structure/tree.ts"

const example = (name: string): ProjectTexts => {
  const folder = join(projectRoot, "models/examples", name)
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  return Object.fromEntries(
    paths.map(({ parentPath, name: file }) => {
      const path = join(parentPath, file)
      return [path.slice(folder.length + 1), readFileSync(path, "utf8")]
    }),
  )
}

const docs = example("docs-app")
const read: GatewayRequest = {
  ...{ method: "GET", target: "/documents/1", as: "", claims: "", headers: "", body: "", file: "" },
}

async function opened(texts: ProjectTexts) {
  const desk = new RequestDesk(
    async () => (await import("../../runtime/gateway/in-process/in-process-gateway.ts")).openInProcess,
  )
  const { analysis, gateway } = await new Workbench().open(texts)
  desk.open(gateway && { ...gateway, texts })
  return { analysis, desk }
}

test("runs the tests of a gateway, and offers their requests and callers", async () => {
  const { analysis, desk } = await opened(docs)
  expect(analysis.hasGateway).toBe(true)
  const view = await desk.view()
  const results = await desk.results()
  expect(results?.findings).toEqual([])
  expect(results?.tests.length).toBeGreaterThan(5)
  expect(results?.tests.filter(({ passed }) => !passed)).toEqual([])
  expect(view?.files[0]?.path).toBe("tests/documents.gw.yaml")
  expect(view?.samples.map(({ request }) => request.method)).toContain("GET")
  const sample = view?.samples.find(({ request }) => request.as !== "")
  expect(view?.files[0]?.callers).toContain(sample?.request.as)
})

test("sends a request without a credential, as a name with the tuples of the store file, and with a wrong form", async () => {
  const { desk } = await opened(docs)
  const status = async (part: Partial<GatewayRequest>) => {
    const answer = await desk.send({ ...read, ...part })
    return answer.kind === "passage" ? answer.passage.response.status : answer.message
  }
  expect(await status({})).toBe(401)
  expect(await status({ as: "mallory" })).toBe(403)
  expect(await status({ as: "ann" })).toBe(200)
  expect(await status({ target: "documents" })).toBe("the path does not start with `/`")
  expect(await status({ headers: "wrong" })).toBe("`wrong` is not a header: write `name: value`")
  expect(await status({ as: "ann", claims: "[1]" })).toBe("the claims are not a JSON object")
  expect(await status({ as: "ann", claims: "{" })).toMatch(/^the claims are not JSON: /)
})

test("a test that fails has its line and reason; a mistake in a file of tests is a finding", async () => {
  const path = "tests/documents.gw.yaml"
  const failing = (docs[path] ?? "").replace("expect: { status: 401", "expect: { status: 402")
  const [failed] =
    (await (await opened({ ...docs, [path]: failing })).desk.results())?.tests.filter(
      ({ passed }) => !passed,
    ) ?? []
  expect(failed?.failures[0]).toMatchObject({ what: "status", expected: "402", got: "401" })
  const line = failing.slice(0, failing.indexOf("status: 402")).split("\n").length
  expect(failed?.failures[0]?.line).toBe(line)
  const wrong = await (await opened({ ...docs, [path]: `${docs[path]}\nwrong: true\n` })).desk.results()
  expect(wrong?.tests).toEqual([])
  expect(wrong?.findings[0]?.detail).toContain("wrong")
})

test("a project with an error, or without a gateway, has nothing to ask", async () => {
  const broken = await opened({ ...docs, "gateway.conf": "wrong" })
  expect(broken.analysis.hasGateway).toBe(false)
  expect(await broken.desk.view()).toBeUndefined()
  expect(await broken.desk.results()).toBeUndefined()
  expect(await broken.desk.send(read)).toMatchObject({ kind: "error" })
  const { "gateway.conf": _, ...model } = docs
  expect((await opened(model)).analysis.hasGateway).toBe(false)
})
