/* HTML: texts mean themselves, wherever they stand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/frame/drawing.h"

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

static void words_are_one_word_of_a_shell(void **state)
{
    (void)state;
    static const struct {
        const char *word, *written;
    } cases[] = {
        {"results.db", "results.db"},
        {"/tmp/a-b_c+d.db", "/tmp/a-b_c+d.db"},
        {"", "&#39;&#39;"},
        {"-rf", "-rf"}, /* quotes would not make it another word */
        {"my runs.db", "&#39;my runs.db&#39;"},
        {"$(x)", "&#39;$(x)&#39;"},
        {"it's", "&#39;it&#39;\\&#39;&#39;s&#39;"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct page page;
        page_open(&page);
        html_word(cases[i].word, page.out);
        page_close(&page, cases[i].written);
    }
}

static void names_of_a_picture_are_its_own(void **state)
{
    (void)state;
    static const char svg[] =
        "<?xml version=\"1.0\"?>\n<svg\n width=\"8\" viewBox=\"0 0 8 4\"\n"
        " xmlns:xlink=\"x\"\n>\n<title>Gnuplot</title>\n<desc>5.4</desc>"
        "<g id=\"a\"><path id='b'/><use xlink:href='#b' fill=\"url(#c)\"/></g></svg>\n";
    struct page page;
    page_open(&page);
    html_picture(svg, "hits-", "hits & misses", page.out);
    page_close(&page, "<svg role=\"img\" aria-labelledby=\"hits--title\" viewBox=\"0 0 8 4\"\n"
                      " xmlns:xlink=\"x\"\n>\n<title id=\"hits--title\">hits &amp; misses</title>\n"
                      "<g id=\"hits-a\"><path id='hits-b'/><use xlink:href='#hits-b' "
                      "fill=\"url(#hits-c)\"/></g></svg>\n");
}

static void what_is_no_picture_is_an_empty_one(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "<svg", "viewBox=", "</desc"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct page page;
        page_open(&page);
        html_picture(texts[i], "x-", "x", page.out);
        page_close(&page, "<svg role=\"img\" aria-labelledby=\"x--title\" >\n"
                          "<title id=\"x--title\">x</title>\n</svg>\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_with_a_meaning_lose_it),
        cmocka_unit_test(formats_are_ours_and_their_texts_are_not),
        cmocka_unit_test(words_are_one_word_of_a_shell),
        cmocka_unit_test(names_of_a_picture_are_its_own),
        cmocka_unit_test(what_is_no_picture_is_an_empty_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
