/** An address as it stands in gateway.conf, in a URL and in messages: `127.0.0.1:8000`, `[::1]:8000`. */
export function addressText({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`
}
