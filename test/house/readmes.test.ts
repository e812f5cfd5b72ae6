import { existsSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { rooms } from "../structure/rooms.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))

test("every room and every folder of the top has a page that says what it is", () => {
  const folders = rooms.map(({ path }) => path).filter((path) => !path.endsWith(".ts"))
  const wanted = ["compiler", "runtime", "models", "migrations", "test", ...folders]
  expect(wanted.filter((folder) => !existsSync(join(root, folder, "README.md")))).toEqual([])
})
