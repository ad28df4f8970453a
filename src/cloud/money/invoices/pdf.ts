import PDFDocument from 'pdfkit';
import { featureOf } from '../costs/presenter.ts';
import { unitsPerPrice } from '../costs/service.ts';
import type { Invoice } from './schema.ts';

const MARGIN = 56;
const [REGULAR, BOLD] = ['Helvetica', 'Helvetica-Bold'];
const SIZE = 9.5;
const GREY = '#666666';
const LINE_GAP = 2;
const ROW_GAP = 7;
const GUTTER = 6;
/** A PDF is made in memory. */
const MOST_LINES = 2_000;
/** For the number of the page. */
const FOOT = 30;

/** Letters that no accent tells from those that the fonts have. */
const LETTERS: Record<string, string> = { ə: 'e', Ə: 'E', ı: 'i', ł: 'l', Ł: 'L', đ: 'd', Đ: 'D' };
/** What Windows-1252 has beside Latin-1: the standard fonts have nothing else. */
const HAS =
  /[\u0020-\u007e\u00a0-\u00ff\u20ac\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u017d\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u017e\u0178]/;

/** Returns a text in the letters of the standard fonts. */
export function inFont(text: string): string {
  return [...text.normalize('NFC')]
    .map((letter) => {
      if (letter === '\n' || HAS.test(letter)) return letter;
      const bare = LETTERS[letter] ?? letter.normalize('NFD').replace(/\p{M}/gu, '');
      return HAS.test(bare) ? bare : '?';
    })
    .join('');
}

const UNITS = { seconds: 'hours', gib_seconds: 'GiB hours', bytes: 'GB' };

interface Column {
  title: string;
  /** As a part of the width between the margins. */
  part: number;
  align: 'left' | 'right';
}
const LINE_COLUMNS: readonly Column[] = [
  { title: 'Description', part: 0.5, align: 'left' },
  { title: 'Quantity', part: 0.22, align: 'right' },
  { title: 'VAT', part: 0.1, align: 'right' },
  { title: 'Amount with VAT', part: 0.18, align: 'right' },
];
const TAX_COLUMNS: readonly Column[] = [
  { title: 'Rate', part: 0.4, align: 'left' },
  { title: 'Net', part: 0.2, align: 'right' },
  { title: 'VAT', part: 0.2, align: 'right' },
  { title: 'Gross', part: 0.2, align: 'right' },
];

/** Returns an invoice as a PDF of A4 pages. */
export function invoicePdf(invoice: Invoice, nameOfRegion: (id: number) => string): Promise<Buffer> {
  const { currency, number, issuer, customer, month, finalized_at: finalizedAt, taxes } = invoice;
  const title = number === null ? 'Draft of an invoice' : `Invoice ${number}`;
  const doc = new PDFDocument({
    size: 'A4',
    margins: { top: MARGIN, left: MARGIN, right: MARGIN, bottom: MARGIN + FOOT },
    bufferPages: true,
    lang: 'en',
    info: {
      Title: title,
      Author: inFont(issuer.company),
      // Not the time at which the file is made, which PDFKit would take.
      CreationDate: new Date(finalizedAt ?? invoice.created_at),
    },
  });
  const chunks: Uint8Array[] = [];
  doc.on('data', (chunk: Uint8Array) => chunks.push(chunk));
  const done = new Promise<Buffer>((resolve, reject) => {
    doc.on('end', () => resolve(Buffer.concat(chunks)));
    doc.on('error', reject);
  });
  const width = doc.page.width - 2 * MARGIN;
  const bottom = () => doc.page.height - doc.page.margins.bottom;
  const format = new Intl.NumberFormat('en-GB', { style: 'currency', currency });
  const money = (amount: number) => format.format(amount);
  const plain = (count: number) => count.toLocaleString('en-GB', { maximumFractionDigits: 2 });

  function put(text: string, x: number, y: number, options: PDFKit.Mixins.TextOptions & { font?: string } = {}) {
    const { font = REGULAR, ...rest } = options;
    doc
      .font(font)
      .fontSize(SIZE)
      .text(inFont(text), x, y, { lineGap: LINE_GAP, ...rest });
  }

  /** Columns are apart, and the last one ends at the margin. */
  const inner = (columns: readonly Column[], index: number) =>
    (columns[index]?.part ?? 0) * width - (index < columns.length - 1 ? GUTTER : 0);

  function rule(y: number, color = '#cccccc') {
    doc
      .moveTo(MARGIN, y)
      .lineTo(MARGIN + width, y)
      .lineWidth(0.5)
      .strokeColor(color)
      .stroke();
  }

  /** Writes a row, and returns where the next one begins. */
  function row(columns: readonly Column[], cells: readonly string[], y: number, font = REGULAR): number {
    let x = MARGIN;
    for (const [index, { part, align }] of columns.entries()) {
      put(cells[index] ?? '', x, y, { width: inner(columns, index), align, font });
      x += part * width;
    }
    return y + heightOf(columns, cells, font) + ROW_GAP;
  }

  function heightOf(columns: readonly Column[], cells: readonly string[], font: string): number {
    doc.font(font).fontSize(SIZE);
    const heights = columns.map((_, index) =>
      doc.heightOfString(inFont(cells[index] ?? ''), { width: inner(columns, index), lineGap: LINE_GAP }),
    );
    return Math.max(...heights);
  }

  function headings(columns: readonly Column[], y: number): number {
    const titles = columns.map((column) => column.title);
    const next = row(columns, titles, y, BOLD);
    rule(next - ROW_GAP / 2, '#333333');
    return next + 2;
  }

  /** Writes a table, with its headings on each page that it is on. */
  function table(columns: readonly Column[], rows: readonly string[][], from: number): number {
    let y = headings(columns, from);
    for (const cells of rows) {
      if (y + heightOf(columns, cells, REGULAR) > bottom()) {
        doc.addPage();
        y = headings(columns, MARGIN);
      }
      y = row(columns, cells, y);
    }
    return y;
  }

  /** Returns where something of that height fits: here, or on a new page. */
  function fitting(y: number, height: number): number {
    if (y + height <= bottom()) return y;
    doc.addPage();
    return MARGIN;
  }

  const half = width / 2;
  put(issuer.company, MARGIN, MARGIN, { width, align: 'right', font: BOLD });
  put(partyLines(issuer).slice(1).join('\n'), MARGIN, doc.y, { width, align: 'right' });
  let y = Math.max(doc.y, MARGIN + 70) + 10;
  put(partyLines(customer).join('\n'), MARGIN, y, { width: half });
  y = doc.y + 30;
  doc.font(BOLD).fontSize(16).text(inFont(title), MARGIN, y, { width });
  y = doc.y + 6;
  const facts = [
    ...(finalizedAt ? [['Date', finalizedAt.slice(0, 10)]] : []),
    ['Period', `${month}, in UTC`],
    ...(invoice.client_id === null ? [] : [['Account', String(invoice.client_id)]]),
    ...(invoice.kind === 'wholesale' ? [['For', 'what your clients used, at wholesale prices']] : []),
  ];
  for (const [name = '', value = ''] of facts) {
    doc.fillColor(GREY);
    put(name, MARGIN, y, { width: 60 });
    doc.fillColor('black');
    put(value, MARGIN + 60, y, { width: width - 60 });
    y = doc.y + 1;
  }

  const lines = invoice.lines
    .slice(0, MOST_LINES)
    .map((line) => [
      `${featureOf({ ...line, sku: line.kind })}\n${placeOf(line, nameOfRegion(line.region_id))}`,
      `${plain(line.quantity / unitsPerPrice(line.type))} ${UNITS[line.unit]}`,
      `${plain(line.tax_percent)} %`,
      money(line.amount),
    ]);
  const more = invoice.lines.length - lines.length;
  if (more > 0) lines.push([`And ${plain(more)} more, see the CSV`]);
  y = table(LINE_COLUMNS, lines, y + 18);
  rule(y - ROW_GAP / 2, '#333333');

  y = fitting(y + 14, 40 + taxes.length * 20);
  const summed = taxes.map((one) => [
    one.reverse_charge ? 'Reverse charge' : `${plain(one.tax_percent)} %`,
    money(one.net),
    money(one.vat),
    money(one.gross),
  ]);
  y = table(TAX_COLUMNS, summed, y);
  rule(y - ROW_GAP / 2);
  y = row(TAX_COLUMNS, ['Total', money(invoice.net), money(invoice.vat), money(invoice.gross)], y + 2, BOLD);
  const after = [
    ...(invoice.credited > 0 ? [['Credited', '', '', money(-invoice.credited)]] : []),
    ...(invoice.paid > 0 ? [['Paid', '', '', money(-invoice.paid)]] : []),
  ];
  for (const cells of after) y = row(TAX_COLUMNS, cells, fitting(y, 20));
  if (after.length > 0) y = row(TAX_COLUMNS, ['Still to be paid', '', '', money(invoice.due)], fitting(y, 20), BOLD);

  const notes = [
    ...(taxes.some((one) => one.reverse_charge)
      ? ['Reverse charge: the customer owes the VAT (Articles 44 and 196 of Directive 2006/112/EC).']
      : []),
    ...invoice.credit_notes.map((note) => `Credit note ${note.number}: ${money(note.gross)}. ${note.reason}`),
  ];
  for (const note of notes) {
    doc.font(REGULAR).fontSize(SIZE);
    y = fitting(y + 8, doc.heightOfString(inFont(note), { width, lineGap: LINE_GAP }));
    put(note, MARGIN, y, { width });
    y = doc.y;
  }
  numberPages(doc, title);
  doc.end();
  return done;
}

const partyLines = ({ company, address, country, vat_id: vatId }: Invoice['issuer']): string[] => [
  company,
  ...address.split(/\r?\n/),
  ...(country === '' ? [] : [new Intl.DisplayNames('en', { type: 'region' }).of(country) ?? country]),
  ...(vatId === undefined ? [] : [`VAT ID ${vatId}`]),
];

function placeOf({ project_id: id, project_name: name }: Invoice['lines'][number], region: string): string {
  if (id === null) return region;
  return name === null ? `Project ${id}, ${region}` : `Project ${name} (${id}), ${region}`;
}

function numberPages(doc: PDFKit.PDFDocument, title: string): void {
  const { start, count } = doc.bufferedPageRange();
  for (let index = start; index < start + count; index++) {
    doc.switchToPage(index);
    const { margins } = doc.page;
    const y = doc.page.height - MARGIN;
    // Otherwise a text below the margin begins another page.
    doc.page.margins = { ...margins, bottom: 0 };
    doc.font(REGULAR).fontSize(8).fillColor(GREY);
    doc.text(inFont(`${title}, page ${index + 1} of ${count}`), MARGIN, y, {
      width: doc.page.width - 2 * MARGIN,
      align: 'right',
    });
    doc.page.margins = margins;
  }
}
