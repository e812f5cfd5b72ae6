import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * The usual order (what failed before, then what took longest before), but the static checks first: the type checker needs as much
 * memory as the tests, and their processes are smallest at the beginning.
 */
export class StaticChecksFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isFirst = ({ moduleId }: TestSpecification) => moduleId.endsWith("/test/house/tools.test.ts")
    return [...sorted.filter(isFirst), ...sorted.filter((file) => !isFirst(file))]
  }
}
