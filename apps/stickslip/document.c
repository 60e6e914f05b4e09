#include "document.h"

#include "chart.h"

#include <math.h>

static const char style[] = ":root{color-scheme:light dark}"
                            "body{font:15px/1.5 system-ui,sans-serif;max-width:980px;margin:2em auto;padding:0 "
                            "1em;color:#1a2230}"
                            "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;margin-bottom:"
                            "1.5em}"
                            "th,td{text-align:right;padding:4px 8px;border-bottom:1px solid #d5dbe4}th{font-weight:600}"
                            "td{white-space:nowrap}td.text{text-align:left;white-space:normal}.wide{overflow-x:auto}"
                            "svg{max-width:100%;height:auto;background:#fff;border-radius:6px}.wide "
                            "svg{min-width:640px}" /* smaller, its text cannot be read */
                            ".note{color:#566173}.bad{color:#c11f2c;font-weight:600}"
                            "pre{overflow-x:auto;padding:.8em;border:1px solid #d5dbe4;border-radius:6px}"
                            "@media(prefers-color-scheme:dark){body{background:#0d1016;color:#e8ecf2}th,td,pre{border-"
                            "color:#2c3542}"
                            ".note{color:#9aa6b8}.bad{color:#ff7b81}}"
                            "@media print{body{max-width:none;margin:0}svg,tr{break-inside:avoid}}";

void document_text(FILE *f, const char *text) { chart_put_escaped(f, text ? text : ""); }

void document_element(FILE *f, const char *tag, const char *text) {
  (void)fprintf(f, "<%s>", tag);
  document_text(f, text);
  (void)fprintf(f, "</%s>", tag);
}

void document_number(FILE *f, double value) {
  if (isfinite(value))
    (void)fprintf(f, "<td>%.6g</td>", value);
  else
    (void)fputs("<td>–</td>", f);
}

output_file *document_open(const char *path, const char *title, const char *subject) {
  output_file *o = output_open(path);
  if (!o) return NULL;
  FILE *f = output_stream(o);
  (void)fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
              "<title>",
              f);
  document_text(f, title);
  (void)fprintf(f, " – %s</title><style>%s</style></head><body>\n", subject, style);
  document_element(f, "h1", title);
  (void)fputc('\n', f);
  return o;
}

int document_close(output_file *o) {
  (void)fputs("</body></html>\n", output_stream(o));
  return output_close(o);
}
