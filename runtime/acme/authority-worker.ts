// The thread that talks to authorities: it gets tasks and sends their results. It is a separate entry of the build (dist/authority-worker.js), because
// a worker starts from a file.
import { parentPort } from "node:worker_threads"
import { orderCertificate, suggestion, validationPair } from "./authority.ts"
import {
  type AuthorityTask,
  type FromAuthorityThread,
  OrderFailed,
  type PublishedChallenge,
  type ToAuthorityThread,
} from "./messages.ts"

/** By token: challenges that are being published. */
const publishing = new Map<string, (failure: string | undefined) => void>()

function send(message: FromAuthorityThread): void {
  parentPort?.postMessage(message)
}

function work(id: number, task: AuthorityTask): Promise<unknown> {
  switch (task.kind) {
    case "order":
      return orderCertificate(task.settings, task.accountKey, task.replaced, (challenge) =>
        publish(id, challenge),
      )
    case "suggestion":
      return suggestion(task.settings, task.cert, task.nowMs)
    case "validation":
      return validationPair(task.host, task.response)
  }
}

function publish(id: number, challenge: PublishedChallenge): Promise<void> {
  return new Promise((resolve, reject) => {
    publishing.set(challenge.token, (failure) => {
      publishing.delete(challenge.token)
      if (failure === undefined) resolve()
      else reject(new Error(failure))
    })
    send({ id, publish: challenge })
  })
}

parentPort?.on("message", (message: ToAuthorityThread) => {
  if ("published" in message) {
    publishing.get(message.published)?.(message.failure)
    return
  }
  const { id, task } = message
  work(id, task).then(
    (result) => send({ id, result }),
    (error: unknown) =>
      send({
        id,
        failure: error instanceof Error ? error.message : String(error),
        pauseMs: error instanceof OrderFailed ? error.pauseMs : undefined,
      }),
  )
})
