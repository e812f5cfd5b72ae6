import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, test } from "vitest"
import { browserScript } from "../platform/bundle.ts"
import { ownProject } from "../platform/own-project.ts"
import { projectAnswers } from "../platform/project-answers.ts"
import { Chromium, chromiumPath } from "../support/chromium.ts"

const path = chromiumPath()

test.skipIf(path === undefined)(
  "compiler, engine and language service say the same in Chromium, under a policy without eval",
  async () => {
    const [script, project] = [await browserScript(), await ownProject()]
    const server = createServer((request, response) => {
      response.setHeader("content-security-policy", "default-src 'none'; script-src 'self'")
      const isScript = request.url === "/bundle.js"
      response.setHeader("content-type", isScript ? "text/javascript" : "text/html")
      response.end(isScript ? script : '<title>ready</title><script src="/bundle.js"></script>')
    }).listen(0, "127.0.0.1")
    const chromium = await Chromium.start(path ?? "")
    try {
      await chromium.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
      await expect.poll(() => chromium.evaluate("typeof projectAnswers")).toBe("function")
      const there = await chromium.evaluate<string>(`projectAnswers(${JSON.stringify(project)})`)
      expect(JSON.parse(there)).toEqual(JSON.parse(await projectAnswers(project)))
    } finally {
      await chromium.close()
      server.close()
    }
  },
)
