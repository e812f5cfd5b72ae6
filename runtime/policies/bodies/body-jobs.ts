import { type Replacement, replaced } from "./find-bytes.ts"
import { type JsonToXmlOptions, xmlOfJson } from "./json-xml.ts"
import { envelopeProblem } from "./soap-envelope.ts"
import { jsonOfXml, type XmlToJsonOptions } from "./xml-json.ts"
import { readXml, XmlProblem } from "./xml-reading.ts"

/** The result of a job: new content, or what is wrong with the body. With neither, the body stays as it is. */
export interface JobResult {
  readonly content?: Uint8Array
  /** Continues a sentence that begins with "the body". */
  readonly problem?: string
  /** Whether the text searched for occurs in the body. */
  readonly isFound?: boolean
}

/** A body as text, and the options of its conversion. */
interface Converted<Options> {
  readonly text: string
  readonly options: Options
}

/**
 * Work on one whole body; its time grows with the body. Input and output are plain data, so that a job can run in this thread or in another one
 * (body-threads.ts).
 */
export const bodyJobs = {
  "json-to-xml": ({ text, options }: Converted<JsonToXmlOptions>): JobResult => {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      return { problem: `is not JSON: ${(error as Error).message}` }
    }
    return guarded("cannot be converted:", () => ({ content: xmlOfJson(value, options) }))
  },

  "xml-to-json": ({ text, options }: Converted<XmlToJsonOptions>): JobResult =>
    guarded("cannot be converted:", () => ({
      content: Buffer.from(JSON.stringify(jsonOfXml(text, options))),
    })),

  replace: (replacement: Replacement): JobResult => replaced(replacement),

  "read-xml": ({ text }: { readonly text: string }): JobResult =>
    guarded("is not well-formed XML: it", () => {
      readXml(text)
      return {}
    }),

  "read-soap": ({ text, media }: { readonly text: string; readonly media: string }): JobResult =>
    guarded("is not well-formed XML: it", () => {
      const problem = envelopeProblem(text, media)
      return problem === undefined ? {} : { problem }
    }),
}

function guarded(words: string, work: () => JobResult): JobResult {
  try {
    return work()
  } catch (error) {
    if (error instanceof XmlProblem) return { problem: `${words} ${error.message}` }
    throw error
  }
}
