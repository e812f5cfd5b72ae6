/** The part of autocannon 9 that the benches use; the package has no types. */
declare module "autocannon" {
  export interface Options {
    readonly url: string
    readonly connections?: number
    /** Seconds. */
    readonly duration?: number
    /** Seconds an answer may take. */
    readonly timeout?: number
    readonly headers?: Readonly<Record<string, string>>
    readonly requests?: readonly {
      readonly method?: string
      readonly path?: string
      readonly body?: string
      readonly headers?: Readonly<Record<string, string>>
    }[]
  }
  export interface Result {
    readonly "2xx": number
    readonly non2xx: number
    readonly errors: number
    /** Seconds. */
    readonly duration: number
  }
  export default function autocannon(options: Options): Promise<Result>
}
