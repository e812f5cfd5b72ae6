import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Rooms whose tests wait for processes and servers. They begin, so that the last files of a run are short ones; first those with small processes, beside the type checker. */
const slowRooms = ["process", "store", "e2e", "machines", "manual", "redis", "usage", "authz", "authzen"]

/**
 * Room by room, so that a process, which keeps the modules of its files, needs those of few rooms and is renewed seldom. In a room the usual
 * order (what failed before, then what took longest before). The static checks come first: the type checker needs as much memory as the
 * tests, whose processes are smallest at the beginning.
 */
export class RoomByRoom extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const ranked = sorted.map((file) => ({ file, rank: rankOf(file) }))
    ranked.sort((one, other) => one.rank.localeCompare(other.rank))
    return ranked.map(({ file }) => file)
  }
}

/** Texts that sort as the files are to run. */
function rankOf({ moduleId }: TestSpecification): string {
  if (moduleId.endsWith("/test/house/tools.test.ts")) return ""
  const room = /\/test\/([^/]+)\//.exec(moduleId)?.[1] ?? ""
  const slow = slowRooms.indexOf(room)
  return slow === -1 ? `b ${room}` : `a ${slow}`
}
