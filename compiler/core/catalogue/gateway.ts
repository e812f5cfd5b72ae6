import { area } from "./entry.ts"
import { routes } from "./routes.ts"
import { statements } from "./statements.ts"

/** SP2xxx and SP3xxx: statements of gateway.conf, names, routes, policies. */
export const gateway = area({ ...statements, ...routes })
