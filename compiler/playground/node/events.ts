// `node:events`: the library that bundlers use for it, under its own name.
export { EventEmitter } from "events"
