import type { Peer } from "../gateway/peers.ts"
import type { Settings } from "../gateway/servers.ts"

/** What a peer of the edge is started with: `port` is that of TLS. */
export interface EdgeSettings extends Settings {
  /** Of the backend that answers gRPC calls by HTTP/2 without TLS. */
  readonly callPort: number
  /** Path of the certificate with its chain, and of its key. */
  readonly cert: string
  readonly key: string
  /** Path of both in one file, as HAProxy wants them. */
  readonly pair: string
}

const nginx: Peer<EdgeSettings> = {
  name: "nginx",
  configuration: ({ port, backendPort, callPort, folder, cert, key }) => `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/nginx.log;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/nginx-body;
  proxy_temp_path ${folder}/nginx-proxy;
  fastcgi_temp_path ${folder}/nginx-fastcgi;
  uwsgi_temp_path ${folder}/nginx-uwsgi;
  scgi_temp_path ${folder}/nginx-scgi;
  keepalive_requests 1000000000;
  upstream backend { server 127.0.0.1:${backendPort}; keepalive 128; keepalive_requests 1000000000; }
  upstream calls { server 127.0.0.1:${callPort}; keepalive 128; keepalive_requests 1000000000; }
  proxy_http_version 1.1;
  proxy_set_header Connection "";
  server {
    listen 127.0.0.1:${port} ssl http2;
    http2_max_concurrent_streams 256;
    ssl_certificate ${cert};
    ssl_certificate_key ${key};
    ssl_protocols TLSv1.2 TLSv1.3;
    location /plain/ { proxy_pass http://backend/; }
    location /bench.Echo/ { grpc_pass grpc://calls; }
  }
}
`,
  command: (file) => ["nginx", "-c", file],
}

const haproxy: Peer<EdgeSettings> = {
  name: "HAProxy",
  configuration: ({ port, backendPort, callPort, pair }) => `
global
  nbthread 1
  maxconn 4096
  tune.h2.max-concurrent-streams 256
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  http-reuse always
frontend gateway
  bind 127.0.0.1:${port} ssl crt ${pair} alpn h2,http/1.1
  http-request replace-path /plain/(.*) /\\1
  use_backend calls if { path_beg /bench.Echo/ }
  default_backend main
backend main
  server one 127.0.0.1:${backendPort}
backend calls
  server one 127.0.0.1:${callPort} proto h2
`,
  command: (file) => ["haproxy", "-f", file],
}

const caddy: Peer<EdgeSettings> = {
  name: "Caddy",
  configuration: ({ port, backendPort, callPort, cert, key }) =>
    `
{
  admin off
  auto_https off
  log { level ERROR }
}
https://localhost:${port} {
  bind 127.0.0.1
  tls ${cert} ${key}
  handle_path /plain/* { reverse_proxy 127.0.0.1:${backendPort} }
  handle /bench.Echo/* { reverse_proxy h2c://127.0.0.1:${callPort} }
}
`.replace(/\{ (reverse_proxy [^}]+|level ERROR) \}/g, "{\n$1\n}"),
  command: (file) => ["caddy", "run", "--adapter", "caddyfile", "--config", file],
}

const traefik: Peer<EdgeSettings> = {
  name: "Traefik",
  // One file for both of its kinds of configuration: each ignores nothing, so the static one is on the command line.
  configuration: ({ backendPort, callPort, cert, key }) => `
tls: { certificates: [{ certFile: "${cert}", keyFile: "${key}" }] }
http:
  routers:
    plain: { rule: "PathPrefix(\`/plain/\`)", service: main, middlewares: [strip], tls: {} }
    calls: { rule: "PathPrefix(\`/bench.Echo/\`)", service: calls, tls: {} }
  middlewares: { strip: { stripPrefix: { prefixes: ["/plain"] } } }
  services:
    main: { loadBalancer: { servers: [{ url: "http://127.0.0.1:${backendPort}" }] } }
    calls: { loadBalancer: { servers: [{ url: "h2c://127.0.0.1:${callPort}" }] } }
`,
  command: (file, { port }) => [
    "traefik",
    `--entrypoints.edge.address=127.0.0.1:${port}`,
    `--providers.file.filename=${file}`,
    "--log.level=ERROR",
  ],
}

/** Two of Debian with one worker, and two of Go, which are bounded to one processor as the gateway is by its one thread. */
export const edgePeers: readonly Peer<EdgeSettings>[] = [nginx, haproxy, caddy, traefik]
