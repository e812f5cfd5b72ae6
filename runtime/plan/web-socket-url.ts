/** The address a WebSocket is opened at: it begins as a request of HTTP, so `wss://` is `https://` and `ws://` is `http://`. Other addresses stay as they are. */
export function asHttp(url: string): string {
  return url.replace(/^ws(s?):\/\//i, "http$1://")
}
