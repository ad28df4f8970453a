const MOST_SHOWN = 300;
/** Line breaks and other controls, what turns the direction of writing, and what can't be seen within a word. */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
/** In a domain, with or without an address before it. Browsers take the other characters for dots as well. */
const DOT_OF_DOMAIN = /(?<=\S)[.\u3002\uff0e\uff61](?=[\p{L}\p{M}]{2})/gu;
/** What is an address and nothing else by our own rules, and has to be shown as it is. */
const ADDRESSES = new Set(['address', 'host', 'user']);

/**
 * Turns what somebody typed into one short line. Programs that read mail make links of addresses and domains, which would
 * be ours as it seems, so these lose what makes them such.
 */
export function plain(text: string): string {
  return short(oneLine(text).replace(DOT_OF_DOMAIN, '. '));
}

/** Does so with every text. */
export function plainData<Data extends object>(data: Data): Data {
  const entries = Object.entries(data).map(([name, given]) => {
    const text = String(given);
    return [name, ADDRESSES.has(name) ? short(oneLine(text)) : plain(text)];
  });
  return Object.fromEntries(entries) as Data;
}

/** In a header, programs would decode what looks like an encoded word (RFC 2047). */
function oneLine(text: string): string {
  const line = text.toWellFormed().replace(CONTROLS, ' ');
  return line.replaceAll('://', ' ').replaceAll('=?', '= ?').trim();
}

function short(line: string): string {
  const characters = [...line.slice(0, 2 * MOST_SHOWN + 2)];
  return characters.length > MOST_SHOWN ? `${characters.slice(0, MOST_SHOWN - 1).join('')}…` : line;
}
