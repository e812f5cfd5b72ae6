import { absent } from "./absent.ts"

// `node:module`: everything is in the bundle.

export const createRequire = (): unknown =>
  Object.assign(absent("require"), { resolve: (name: string) => name })
