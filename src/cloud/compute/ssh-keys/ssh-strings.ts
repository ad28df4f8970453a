/** Encodes a `string` of the SSH protocol (RFC 4251 section 5): four bytes of length, then the bytes. */
export function sshString(content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Splits a blob into the strings that it consists of; undefined if it contains anything else. */
export function splitSshStrings(blob: Buffer): Buffer[] | undefined {
  const strings: Buffer[] = [];
  for (let at = 0; at < blob.length; ) {
    if (at + 4 > blob.length) return undefined;
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return undefined;
    strings.push(blob.subarray(at + 4, end));
    at = end;
  }
  return strings;
}
