/* HTML: texts mean themselves, wherever they stand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/report/report_query.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(cases) (sizeof(cases) / sizeof(cases)[0])

/* Where a page is written, in memory. */
struct page {
    char *text;
    size_t size;
    FILE *out;
};

static void page_open(struct page *page)
{
    page->out = open_memstream(&page->text, &page->size);
    assert_non_null(page->out);
}

static void page_close(struct page *page, const char *expected)
{
    fclose(page->out);
    assert_string_equal(page->text, expected);
    free(page->text);
}

static void characters_with_a_meaning_lose_it(void **state)
{
    (void)state;
    static const struct {
        const char *text, *written;
    } cases[] = {
        {"", ""},
        {"litecache, batch 3", "litecache, batch 3"},
        {"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
        {"\" onload='x' &amp;", "&quot; onload=&#39;x&#39; &amp;amp;"},
        {"a\tb\nc\x7f", "a b c "},
        {"3840→131072", "3840→131072"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct page page;
        page_open(&page);
        html_text(cases[i].text, page.out);
        page_close(&page, cases[i].written);
    }
}

static void formats_are_ours_and_their_texts_are_not(void **state)
{
    (void)state;
    struct page page;
    page_open(&page);
    html_print(page.out, "<p title=\"%s\">5 % of %s</p>", "a\"b", "<%s>");
    page_close(&page, "<p title=\"a&quot;b\">5 % of &lt;%s&gt;</p>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_with_a_meaning_lose_it),
        cmocka_unit_test(formats_are_ours_and_their_texts_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
