/**
 * `text` as one line that shows what it says: line breaks and tabs become blanks; other control characters, those that turn the reading
 * order, and halves of characters are replaced. For conditions and Events, which people read in terminals.
 */
export function printable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\t\r\n\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd')
}
