import { expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { LanguageService } from "../../compiler/service/language-service.ts"

const head = `gateway shop { listen 127.0.0.1:8000 }
backend orders { url "http://127.0.0.1:9001" }
`

/** The menu of quick fixes at a text of gateway.conf. */
async function titlesAt(api: string, at: string): Promise<readonly string[]> {
  const text = head + api
  const service = new LanguageService(new MemoryFiles([["gateway.conf", text]]), "gateway.conf")
  const offset = text.indexOf(at)
  return (await service.actions("gateway.conf", offset, offset)).map(({ title }) => title)
}

test("a quick fix says what it does", async () => {
  const at = (api: string, place: string) =>
    titlesAt(`api a { ${api}; auth none; backend orders; GET "/" }`, place)
  expect(await at('pth "/a"', "pth")).toEqual(["Replace `pth` with `path`"])
  expect(await at('path = "/a"', "=")).toEqual(["Remove `=`"])
})

test("a quick fix of an invisible character has the help of the finding", async () => {
  const [title] = await titlesAt('api a { path "/a"; auth none; backend or\u200bders; GET "/" }', "\u200b")
  expect(title).toMatch(/^Remove it\./)
})
