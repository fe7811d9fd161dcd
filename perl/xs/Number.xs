MODULE = Bytewright    PACKAGE = Bytewright::Number

IV
whole(number, what, least, most)
    SV *number
    const char *what
    IV least
    IV most
CODE:
    RETVAL = whole_number(aTHX_ number, what, least, most);
OUTPUT:
    RETVAL

UV
count(number, what, least)
    SV *number
    const char *what
    UV least
CODE:
    RETVAL = count_number(aTHX_ number, what, least);
OUTPUT:
    RETVAL

NV
seconds(number, what)
    SV *number
    const char *what
CODE:
    RETVAL = seconds_number(aTHX_ number, what);
OUTPUT:
    RETVAL
