import { absentClass } from "./absent.ts"

// `node:worker_threads`: bodies over 16 KB are processed in another thread, which a playground does not have.

export const Worker = absentClass("worker_threads.Worker")
