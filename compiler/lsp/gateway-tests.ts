import { dirname, join } from "node:path"
import type { GatewayTestReader } from "../service/test-findings.ts"

/** Reads gateway tests of a folder by the reader of `sallyport test`, which is loaded for the first file. */
export function gatewayTestReader(folder: string): GatewayTestReader {
  return async (file, report, projectOf) => {
    const { readGatewayTests } = await import("../gateway-test/test-file.ts")
    await readGatewayTests(file, report, async (_, named, at) => {
      const project = await projectOf(named, at)
      return project && { ...project, folder: join(folder, dirname(project.config)) }
    })
  }
}
