/**
 * `text` as a single line that cannot mislead: line breaks and tabs become spaces; other control characters, those that
 * change the reading direction, and unpaired surrogates are replaced. For conditions and Events, which people read in
 * terminals.
 */
export function printable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\t\r\n\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd')
}
