import fs from 'node:fs';
import path from 'node:path';
import { Liquid, type Template } from 'liquidjs';
import { SettingError } from '../../lib/errors.ts';
import { packageRoot } from '../../lib/own-program.ts';
import { KIND_NAMES, MAIL_KINDS, type MailKind } from '../kinds.ts';

export interface Text {
  subject: string;
  text: string;
  html: string;
}

/** What every template is given besides the data of its kind. */
interface Surroundings {
  reseller: string;
  company: string;
  /** Null without a public address. */
  link: string | null;
}

export interface Templates {
  render(kind: MailKind, values: Surroundings & object): Text;
}

const OPTIONS = {
  // A misspelt name should be noticed at the start, and not by the readers.
  strictVariables: true,
  strictFilters: true,
  lenientIf: true,
  ownPropertyOnly: true,
  relativeReference: false,
  renderLimit: 1_000,
  memoryLimit: 10_000_000,
} as const;

/**
 * Reads the templates: those in `folder`, and for the others those of Tradewind.
 * @throws SettingError for one that can't be used
 */
export function readTemplates(folder: string | undefined): Templates {
  if (folder !== undefined && !fs.existsSync(folder)) {
    throw new SettingError(`TRADEWIND_MAIL_TEMPLATES is not usable: there is no folder ${folder}`);
  }
  const root = [...(folder === undefined ? [] : [folder]), path.join(packageRoot, 'mail')];
  const plainText = new Liquid({ ...OPTIONS, root });
  const html = new Liquid({ ...OPTIONS, root, outputEscape: 'escape' });
  const parsed = new Map<MailKind, { text: Template[]; html: Template[] }>();

  function render(kind: MailKind, values: object): Text {
    const templates = parsed.get(kind);
    if (!templates) throw new Error(`There is no template for ${kind}`);
    const text: string = plainText.renderSync(templates.text, values);
    const [head = '', ...body] = text.split('\n');
    if (!head.startsWith('Subject: ')) throw new Error('its first line must be "Subject: ..."');
    const subject = head.slice('Subject: '.length).trim();
    return { subject, text: body.join('\n').trimStart(), html: html.renderSync(templates.html, values) };
  }

  for (const kind of KIND_NAMES) {
    try {
      parsed.set(kind, {
        text: plainText.parseFileSync(`${kind}.txt.liquid`),
        html: html.parseFileSync(`${kind}.html.liquid`),
      });
      const around = { reseller: 'Reseller', company: 'Company', ...MAIL_KINDS[kind].example };
      for (const link of [null, 'https://example.com/']) render(kind, { ...around, link });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new SettingError(
        `The templates for ${kind} are not usable (${root.join(', ')}): ${why}. Names and values are in docs/accounts.md`,
      );
    }
  }
  return { render };
}
