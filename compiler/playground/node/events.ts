import { EventEmitter as Emitter } from "events"

// `node:events`: the library that bundlers use for it, under its own name.

export class EventEmitter extends Emitter {}
