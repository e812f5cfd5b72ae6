import { openPostgres } from "../../runtime/store/postgres.ts"
import { UsageRecorder } from "../../runtime/usage/recorder.ts"
import { callOf } from "./calls.ts"

/** A process that meters calls until it is killed or has counted enough: says how many it has written, a line for each 500. */
async function main(url: string, spoolFolder: string, total: number): Promise<void> {
  const database = openPostgres(url)
  const recorder = new UsageRecorder({ database, spoolFolder, everyMs: 20 })
  recorder.start()
  for (let index = 1; index <= total; index += 1) {
    recorder.add(callOf({ subscription: `s${index % 3}` }))
    if (index % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    if (index % 500 === 0) {
      await recorder.flush()
      process.stdout.write(`${index}\n`)
    }
  }
  await recorder.close()
  await database.close()
}

void main(process.argv[2] ?? "", process.argv[3] ?? "", Number(process.argv[4]))
