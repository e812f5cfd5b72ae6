import { BaseSequencer, type TestSpecification } from "vitest/node"
import { checkTypes, type ToolResult } from "./run-tool.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** What the type checker said, for the test about it. */
    types: ToolResult
  }
}

/** Rooms whose tests wait for processes and servers. They begin, so that the last files of a run are short ones. */
const slowRooms = ["process", "store", "e2e", "machines", "manual", "redis", "usage", "authz", "authzen"]

/**
 * Room by room, so that a process, which keeps the modules of its files, needs those of few rooms and is renewed seldom. In a room the usual
 * order (what failed before, then what took longest before). The other static checks come first, and before them the type checker, alone: it needs
 * as much memory as all processes of the tests.
 */
export class RoomByRoom extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const ranked = sorted.map((file) => ({ file, rank: rankOf(file) }))
    const types = files.find(isAboutTypes)
    if (types !== undefined) types.project.provide("types", await checkTypes())
    ranked.sort((one, other) => one.rank.localeCompare(other.rank))
    return ranked.map(({ file }) => file)
  }
}

/** Texts that sort as the files are to run. */
function rankOf(file: TestSpecification): string {
  if (isAboutTypes(file)) return ""
  const room = /\/test\/([^/]+)\//.exec(file.moduleId)?.[1] ?? ""
  const slow = slowRooms.indexOf(room)
  return slow === -1 ? `b ${room}` : `a ${slow}`
}

function isAboutTypes({ moduleId }: TestSpecification): boolean {
  return moduleId.endsWith("/test/house/tools.test.ts")
}
