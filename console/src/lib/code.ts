import type { Call } from './call.ts';

export const LANGUAGES = ['curl', 'Python', 'Go'] as const;
export type Language = (typeof LANGUAGES)[number];

const TOKEN = 'TRADEWIND_TOKEN';

/** Writes the request down so that it works when pasted, with the token in an environment variable. */
export function asCode(language: Language, { method, path, headers = {}, body }: Call): string {
  const url = location.origin + path;
  const all = { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers };
  if (language === 'curl') return curl(method, url, all, body);
  return language === 'Python' ? python(method, url, all, body) : go(method, url, all, body);
}

/** In a shell, nothing in single quotes means anything but the quote itself. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

function curl(method: string, url: string, headers: Record<string, string>, body: unknown): string {
  const parts = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`,
    `-H "Authorization: apikey $${TOKEN}"`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(JSON.stringify(body))}`]),
  ];
  return parts.join(' \\\n  ');
}

function python(method: string, url: string, headers: Record<string, string>, body: unknown): string {
  const pairs = Object.entries(headers).map(
    ([name, value]) => `        ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`,
  );
  const payload = body === undefined ? '' : `    data=${literal(JSON.stringify(body))},\n`;
  return `import os
import requests

response = requests.request(
    ${JSON.stringify(method)},
    ${JSON.stringify(url)},
    headers={
        "Authorization": f"apikey {os.environ['${TOKEN}']}",
${pairs.join('')}    },
${payload}    timeout=60,
)
response.raise_for_status()
print(response.text)
`;
}

/** JSON's texts are Python's as well, also with their escapes. */
const literal = (text: string): string => `${JSON.stringify(text)}.encode()`;

function go(method: string, url: string, headers: Record<string, string>, body: unknown): string {
  const payload = body === undefined ? 'nil' : `strings.NewReader(${JSON.stringify(JSON.stringify(body))})`;
  const set = Object.entries(headers).map(
    ([name, value]) => `\trequest.Header.Set(${JSON.stringify(name)}, ${JSON.stringify(value)})\n`,
  );
  const imports = ['fmt', 'io', 'log', 'net/http', 'os', ...(body === undefined ? [] : ['strings'])].map(
    (one) => `\t"${one}"\n`,
  );
  return `package main

import (
${imports.join('')})

func main() {
\trequest, err := http.NewRequest(${JSON.stringify(method)}, ${JSON.stringify(url)}, ${payload})
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\trequest.Header.Set("Authorization", "apikey "+os.Getenv("${TOKEN}"))
${set.join('')}\tresponse, err := http.DefaultClient.Do(request)
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tdefer response.Body.Close()
\ttext, err := io.ReadAll(response.Body)
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tfmt.Println(response.Status, string(text))
}
`;
}
